"""Every code point has the class that was measured in the engines, and splits accordingly.

An atom is a class of code points by general category, white space and the script Han, such as
"Lu, Lt" or "Nd".
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
import regex
from numpy.typing import NDArray

import pretok
from paths import shared
from pretok import Preset, Run
from pretok.charsets import CharSet, sets
from pretok.fuzz.engines import engine
from pretok.machine.backend import BackendName
from pretok.text import code_points_of
from pretok.unicode import CODE_POINTS, VERSIONS, table
from pretok.unicode.atoms import Atom
from support import CORE_NAMES, FULL, atoms_by_code_point, members, regex_split, scalar_values

Flags = NDArray[np.bool_]

MEASURED = {
    "tiktoken": "16.0",
    "hf": "16.0",
    "regex": "18.0",
    "unicodedata2 15.0.0": "15.0",
    "unicodedata2 15.1.0": "15.1",
    "unicodedata2 16.0.0": "16.0",
    "unicodedata2 17.0.0": "17.0",
    "unicodedata2 18.0.0": "18.0",
}
"""The columns of class_ranges.json, and the Unicode version whose classes each column must have."""
GENERAL: dict[CharSet, str] = {
    sets.LETTER: r"\p{L}",
    sets.UPPER: r"\p{Lu}\p{Lt}",
    sets.LOWER: r"\p{Ll}",
    sets.CASELESS: r"\p{Lm}\p{Lo}",
    sets.MARK: r"\p{M}",
    sets.NUMBER: r"\p{N}",
    sets.DIGIT: r"\p{Nd}",
    sets.PUNCTUATION: r"\p{P}",
    sets.SYMBOL: r"\p{S}",
}
"""Sets made of general categories, which every column has."""
OTHERS: dict[CharSet, str] = {
    sets.WHITE_SPACE: r"\s",
    ~sets.WHITE_SPACE: r"\S",
    sets.NEWLINE: r"[\r\n]",
    sets.OTHER: r"[^\s\p{L}\p{N}]",
    sets.HAN: r"\p{Han}",
}
"""Sets that only the engines' columns have."""
SURROGATES = np.zeros(CODE_POINTS, bool)
SURROGATES[0xD800:0xE000] = True


@cache
def measured() -> dict[str, dict[str, list[list[int]]]]:
    found: dict[str, dict[str, list[list[int]]]] = json.loads(
        shared("golden", "class_ranges.json").read_text()
    )
    return found


def measured_members(column: str, *names: str) -> Flags:
    """Return, for each code point, whether it belonged to one of the named classes."""
    found = np.zeros(CODE_POINTS, bool)
    for name in names:
        for first, last in measured()[name][column]:
            found[first : last + 1] = True
    return found


def categories(written: str) -> list[str]:
    return [match.group() for match in regex.finditer(r"\\p\{\w+\}", written)]


def assert_same(ours: Flags, theirs: Flags, what: str) -> None:
    wrong = np.flatnonzero((ours != theirs) & ~SURROGATES)
    assert not len(wrong), f"{what}: {[f'U+{point:04X}' for point in wrong[:20]]}"


@pytest.mark.parametrize("column", MEASURED)
def test_every_class_has_the_members_that_were_measured(column: str) -> None:
    version = MEASURED[column]
    for chars, written in GENERAL.items():
        theirs = measured_members(column, *categories(written))
        assert_same(members(chars, version), theirs, f"{column} {written}")
    of_engine = column in measured()[r"\s"]
    assert of_engine == (not column.startswith("unicodedata2"))
    for chars, written in OTHERS.items() if of_engine else ():
        assert_same(members(chars, version), measured_members(column, written), written)
    white = measured_members(column if of_engine else "tiktoken", r"\s")
    control = measured_members(column, r"\p{C}") & ~white
    assert_same(members(sets.CONTROL, version), control, f"{column} \\p{{C}}")


def test_every_class_has_the_members_that_the_installed_regex_has() -> None:
    version = engine("regex").unicode(pretok.presets()[0])
    every = "".join(map(chr, range(CODE_POINTS)))
    for chars, written in {**GENERAL, **OTHERS}.items():
        theirs = np.zeros(CODE_POINTS, bool)
        pattern = written if written.startswith("[") else f"[{written}]"
        for match in regex.finditer(f"{pattern}+", every):
            theirs[match.start() : match.end()] = True
        assert_same(members(chars, version), theirs, written)


@pytest.mark.parametrize("version", VERSIONS)
def test_surrogates_are_of_category_c(version: str) -> None:
    assert set(atoms_by_code_point(version)[SURROGATES].tolist()) == {Atom.CONTROL}


@pytest.mark.parametrize("version", VERSIONS)
def test_both_backends_find_the_atom_of_every_code_point(
    version: str, backend: BackendName
) -> None:
    """The preset has one rule for each atom, in order, and each code point is one pre-token.

    So the number of the matching rule is the atom of the code point.
    """
    rules = tuple(Run(CharSet(((0, 1 << atom),)), at_most=1) for atom in Atom)
    tokenizer = pretok.get(Preset("atoms", rules=rules), version, backend)
    every = list(range(CODE_POINTS)) if backend == "native" else scalar_values()
    starts, ends, found = tokenizer._backend.steps("".join(map(chr, every)))
    assert np.array_equal(starts, np.arange(len(every)))
    assert np.array_equal(ends, np.arange(1, len(every) + 1))
    assert np.array_equal(found, atoms_by_code_point(version)[every])


# A cell has the tested code point in these places: between letters; first and second after an
# apostrophe; between a number and a line break; and after a line break. A cell begins with a space
# and ends with a letter. So every preset splits between two cells, and cells do not interact.
SLOT = "\ufffc"
CELL = f" a{SLOT}a x'{SLOT}z x'l{SLOT}z 1{SLOT}\n{SLOT}b"


def cells(points: NDArray[np.uint32]) -> str:
    """Return one CELL for each of `points`, joined. The point is in all slots of its cell."""
    one = code_points_of(CELL)
    filled = np.where(one == ord(SLOT), points[:, None], one)
    return filled.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


@cache
def kinds(column: str) -> NDArray[np.int64]:
    """Return a number for each code point. Equal numbers mean that the engine splits them alike."""
    names = [[name] for name in measured() if name.startswith("(?i:")]
    names += [[r"\p{Lu}", r"\p{Lt}"], [r"\p{Ll}"], [r"\p{Lm}", r"\p{Lo}"], [r"\p{M}"]]
    names += [[r"\p{N}"], [r"\s"], [r"[\r\n]"]]
    kind = np.zeros(CODE_POINTS, np.int64)
    for bit, group in enumerate(names):
        kind += measured_members(column, *group).astype(np.int64) << bit
    kind[:0x80] = -1 - np.arange(0x80)
    return kind


@cache
def expected_cuts(preset: Preset, column: str) -> tuple[NDArray[np.int64], Flags]:
    """Return (the row of each code point, rows). A row says where a CELL is split.

    There is one row for each kind: the split by `regex` of one code point of this kind. The code
    point must have the same kind in `column` and in `regex`.
    """
    kind = kinds(column)
    alike = np.where(kind == kinds("regex"), kind, np.iinfo(np.int64).max)
    unique, firsts = np.unique(alike, return_index=True)
    assert len(unique) > 0x80 + 8
    points = firsts[unique != np.iinfo(np.int64).max].astype(np.uint32)
    assert np.isin(kind, kind[points]).all(), "a kind has no code point of this kind in `regex`"
    rows = np.zeros((len(points), len(CELL)), bool)
    for row, point in zip(rows, points, strict=True):
        lengths = [len(part) for part in regex_split(preset.pattern, cells(np.array([point])))]
        row[np.cumsum([0, *lengths[:-1]])] = True
    together = [len(part) for part in regex_split(preset.pattern, cells(points))]
    assert np.array_equal(np.cumsum([0, *together[:-1]]), np.flatnonzero(rows)), (
        "the cells interact"
    )
    order = np.argsort(kind[points])
    return order[np.searchsorted(kind[points], kind, sorter=order)], rows


def bounds_of_runs(version: str) -> NDArray[np.uint32]:
    """Return the code points at or next to an end of a run of one atom, and all below U+3000."""
    firsts = table(version)[0]
    near = np.concatenate([firsts + step for step in (-2, -1, 0, 1)] + [np.arange(0x3000)])
    return np.unique(near[(near >= 0) & (near < CODE_POINTS)]).astype(np.uint32)


@pytest.mark.parametrize("version", ["16.0", "18.0"])
@pytest.mark.parametrize("name", CORE_NAMES)
def test_every_code_point_splits_like_its_measured_class(
    name: str, version: str, backend: BackendName
) -> None:
    tokenizer = pretok.get(name, version, backend)
    preset = tokenizer.preset
    rows_of, rows = expected_cuts(preset, preset.engine if version == "16.0" else "regex")
    points = np.arange(CODE_POINTS, dtype=np.uint32)
    if not FULL:
        points = bounds_of_runs(version)  # the test of atoms above tries more code points
    for start in range(0, len(points), 1 << 16):
        block = points[start : start + (1 << 16)]
        found = tokenizer.offsets(cells(block))[:-1]
        expected = np.flatnonzero(rows[rows_of[block]])
        if not np.array_equal(found, expected):
            wrong = np.setxor1d(found, expected)[0] // len(CELL)
            text = cells(block[wrong : wrong + 1])
            pytest.fail(f"U+{block[wrong]:04X} {tokenizer!r}: {tokenizer.split(text)}")


@pytest.mark.parametrize("name", CORE_NAMES)
def test_every_code_point_alone_is_one_pre_token(name: str, backend: BackendName) -> None:
    tokenizer = pretok.get(name, backend=backend)
    every = range(CODE_POINTS) if FULL else bounds_of_runs("16.0").tolist()
    assert set(map(tokenizer.count, map(chr, every))) == {1}
