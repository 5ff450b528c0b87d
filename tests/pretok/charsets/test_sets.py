"""Character sets: the algebra is exact, and named sets have the right members."""

from __future__ import annotations

import pickle
from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
import unicodedata2
from hypothesis import given, settings
from hypothesis import strategies as st

from pretok.charsets import sets
from pretok.charsets.sets import ALL_ATOMS, ANY, LETTER, LIMIT, NOTHING, CharSet, code_points
from pretok.errors import DefinitionError
from pretok.unicode import CODE_POINTS, VERSIONS
from strategies import NAMED, char_sets
from support import atoms_by_code_point, max_examples, members

INSTALLED = ".".join(unicodedata2.unidata_version.split(".")[:2])


@given(char_sets, char_sets)
@settings(max_examples=max_examples(60))
def test_operators_are_those_of_sets(a: CharSet, b: CharSet) -> None:
    in_a, in_b = members(a), members(b)
    assert (members(a | b) == (in_a | in_b)).all()
    assert (members(a & b) == (in_a & in_b)).all()
    assert (members(a - b) == (in_a & ~in_b)).all()
    assert (members(~a) == ~in_a).all()


@given(char_sets, char_sets, char_sets)
@settings(max_examples=max_examples(200))
def test_equal_sets_are_equal_values(a: CharSet, b: CharSet, c: CharSet) -> None:
    for one, other in (
        (a | b, b | a),
        (~(a | b), ~a & ~b),
        (a - b, a & ~b),
        (a & (b | c), (a & b) | (a & c)),
        (~~a, a),
        (a | ~a, ANY),
        (a & ~a, NOTHING),
    ):
        assert one == other
        assert hash(one) == hash(other)


@given(char_sets, char_sets)
@settings(max_examples=max_examples(200))
def test_segments_are_in_normal_form(a: CharSet, b: CharSet) -> None:
    for chars in (a | b, a & b, a - b, ~a):
        firsts = [first for first, _ in chars.segments]
        masks = [mask for _, mask in chars.segments]
        assert firsts[0] == 0
        assert firsts == sorted(set(firsts))
        assert firsts[-1] < LIMIT
        assert all(x != y for x, y in pairwise(masks))
        assert all(0 <= mask <= ALL_ATOMS for mask in masks)
        assert bool(chars) == any(masks)


@given(char_sets)
@settings(max_examples=max_examples(50))
def test_sets_pickle_and_copy(chars: CharSet) -> None:
    assert pickle.loads(pickle.dumps(chars)) == chars
    assert deepcopy(chars) == chars


@given(st.lists(st.tuples(st.integers(0, LIMIT - 1), st.integers(0, 300)), min_size=1, max_size=4))
@settings(max_examples=max_examples(60))
def test_code_points_makes_exactly_its_ranges(found: list[tuple[int, int]]) -> None:
    ranges = [(first, min(first + length, LIMIT - 1)) for first, length in found]
    wanted = np.zeros(CODE_POINTS, bool)
    for first, last in ranges:
        wanted[first : last + 1] = True
    for version in VERSIONS:
        assert (members(code_points(*ranges), version) == wanted).all(), version


def test_code_points_takes_characters_and_ranges() -> None:
    assert code_points("a") == code_points("a-a") == code_points((97, 97))
    assert code_points("a-c", "x") == code_points("a", "b", "c", "x")
    assert code_points("-") == code_points((0x2D, 0x2D))
    assert code_points("+--") == code_points((0x2B, 0x2D))
    assert code_points() == NOTHING
    assert members(code_points((0, LIMIT - 1))).all()


@pytest.mark.parametrize(
    ("given_range", "message"),
    [
        ("", r"expected a character, a range like 'a-z' or a pair of numbers, got ''"),
        ("ab", "got 'ab'"),
        ("abc", "got 'abc'"),
        (97, "got 97"),
        ((1, 2, 3), r"got \(1, 2, 3\)"),
        ([1, 2], r"got \[1, 2\]"),
        (None, "got None"),
        ("z-a", "an ascending range of code points below 0x110000, got 'z-a'"),
        ((-1, 5), r"expected an ascending range .* got \(-1, 5\)"),
        ((5, 0x110000), "expected an ascending range"),
        ((5, 4), "expected an ascending range"),
        (("a", "z"), r"got \('a', 'z'\)"),
        ((1.0, 2.0), r"got \(1.0, 2.0\)"),
    ],
)
def test_code_points_refuses(given_range: object, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        code_points(given_range)  # type: ignore[arg-type]


@pytest.mark.parametrize("operation", ["__or__", "__and__", "__sub__"])
def test_operators_refuse_other_types(operation: str) -> None:
    with pytest.raises(TypeError, match="expected a CharSet, got str"):
        getattr(LETTER, operation)("a")


def test_ascii_has_the_same_atoms_in_every_version() -> None:
    # code_points() writes ASCII ranges with these atoms before it knows the Unicode version.
    for version in VERSIONS:
        atoms = atoms_by_code_point(version)
        for code_point in range(0x80):
            mask = code_points((code_point, code_point)).mask_at(code_point)
            assert mask == 1 << int(atoms[code_point]), (version, hex(code_point))


CATEGORIES = {
    "LETTER": "Lu Ll Lt Lm Lo",
    "UPPER": "Lu Lt",
    "LOWER": "Ll",
    "CASELESS": "Lm Lo",
    "MARK": "Mn Mc Me",
    "NUMBER": "Nd Nl No",
    "DIGIT": "Nd",
    "PUNCTUATION": "Pc Pd Ps Pe Pi Pf Po",
    "SYMBOL": "Sm Sc Sk So",
}
SPACES = [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F,
          0x205F, 0x3000]  # fmt: skip


def test_named_sets_have_the_categories_they_are_named_for() -> None:
    found = np.array([unicodedata2.category(chr(c)) for c in range(CODE_POINTS)])
    white_space = np.zeros(CODE_POINTS, bool)
    white_space[SPACES] = True
    for name, categories in CATEGORIES.items():
        assert (members(NAMED[name], INSTALLED) == np.isin(found, categories.split())).all(), name
    letter_or_number = np.char.startswith(found, "L") | np.char.startswith(found, "N")
    assert (members(sets.OTHER, INSTALLED) == ~(white_space | letter_or_number)).all()
    assert (
        members(sets.CONTROL, INSTALLED) == (np.char.startswith(found, "C") & ~white_space)
    ).all()


@pytest.mark.parametrize("version", VERSIONS)
def test_white_space_is_the_same_in_every_version(version: str) -> None:
    assert np.flatnonzero(members(sets.WHITE_SPACE, version)).tolist() == SPACES
    assert np.flatnonzero(members(sets.NEWLINE, version)).tolist() == [0x0A, 0x0D]
    assert np.flatnonzero(members(sets.SPACE, version)).tolist() == [0x20]


@pytest.mark.parametrize("version", VERSIONS)
def test_han_belongs_to_letters_marks_numbers_and_signs(version: str) -> None:
    han = members(sets.HAN, version)
    assert han[[0x3005, 0x3007, 0x3021, 0x4E00, 0x2E80, 0x20000]].all()
    assert not han[[0x3001, 0x3042, 0xAC00, 0x61]].any()
    assert not (han & members(sets.WHITE_SPACE | sets.CONTROL, version)).any()
    assert set(NAMED) >= {"HAN", "ANY", *CATEGORIES}


def test_membership_at_a_code_point() -> None:
    chars = LETTER & code_points((0x4E00, 0x9FFF))
    assert chars.mask_at(0x4DFF) == 0
    assert chars.mask_at(0x4E00) == chars.mask_at(0x9FFF) == LETTER.mask_at(0)
    assert chars.mask_at(0xA000) == 0
