"""Character classes: atoms, and the sets of them that rules are written with.

An atom is a cell of the finest partition of the code points that the built-in presets need: the
general categories, merged where no preset tells them apart and cut where `\\s` or `\\p{Han}` cuts
across them. A CharSet is a set of atoms, if need be a different one in different ranges of code
points, so that `LETTER & code_points("a-z")` is a CharSet too. None of this depends on the Unicode
version; which code point has which atom does (pretok.unicode).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import and_, or_

from pretok.errors import DefinitionError, shortened
from pretok.unicode.atoms import ATOMS, Atom

ALL_ATOMS = (1 << len(ATOMS)) - 1
LIMIT = 0x110000


@dataclass(frozen=True, slots=True, repr=False)
class CharSet:
    """A set of code points; `|`, `&`, `-` and `~` combine sets exactly.

    `segments` holds (first code point, mask of the atoms that belong from there on), ascending,
    the first at 0, neighbours different. Sets made of the same names compare equal; what is spelt
    in code points may not equal, nor be known disjoint from, what is spelt in classes.

    >>> LETTER & ~LETTER == NOTHING
    True
    """

    segments: tuple[tuple[int, int], ...]

    def mask_at(self, code_point: int) -> int:
        """Return the mask of the atoms that belong to the set around `code_point`."""
        return self.segments[bisect_right(self.segments, (code_point, ALL_ATOMS)) - 1][1]

    def __or__(self, other: CharSet) -> CharSet:
        return _combine(self, other, or_)

    def __and__(self, other: CharSet) -> CharSet:
        return _combine(self, other, and_)

    def __sub__(self, other: CharSet) -> CharSet:
        return _combine(self, other, lambda a, b: a & ~b)

    def __invert__(self) -> CharSet:
        return CharSet(tuple((first, mask ^ ALL_ATOMS) for first, mask in self.segments))

    def __bool__(self) -> bool:
        return any(mask for _, mask in self.segments)

    def __repr__(self) -> str:
        from pretok.charsets.notation import set_name

        return set_name(self)


def union(sets: Iterable[CharSet]) -> CharSet:
    """Return the union of `sets`, in time n log n in their segments.

    >>> union([code_points("a"), code_points("b-d")]) == code_points("a-d")
    True
    """
    return _reduced(or_, list(sets), NOTHING)


def intersection(sets: Iterable[CharSet]) -> CharSet:
    """Return the intersection of `sets`, in time n log n in their segments."""
    return _reduced(and_, list(sets), ANY)


_Operation = Callable[[int, int], int]


def _reduced(operation: _Operation, sets: list[CharSet], of_none: CharSet) -> CharSet:
    # Combining neighbours copies each segment once in each of log n rounds.
    while len(sets) > 1:
        odd = sets[-1:] if len(sets) % 2 else []
        pairs = zip(sets[::2], sets[1::2], strict=False)
        sets = [_combine(left, right, operation) for left, right in pairs] + odd
    return sets[0] if sets else of_none


def _combine(left: CharSet, right: CharSet, operation: _Operation) -> CharSet:
    if not isinstance(right, CharSet):
        raise TypeError(f"expected a CharSet, got {type(right).__name__}")
    left_masks, right_masks = dict(left.segments), dict(right.segments)
    left_mask = right_mask = 0
    kept: list[tuple[int, int]] = []
    for first in sorted({**left_masks, **right_masks}):
        left_mask = left_masks.get(first, left_mask)
        right_mask = right_masks.get(first, right_mask)
        mask = operation(left_mask, right_mask)
        if not kept or kept[-1][1] != mask:
            kept.append((first, mask))
    return CharSet(tuple(kept))


def _normal(segments: list[tuple[int, int]]) -> CharSet:
    kept: list[tuple[int, int]] = []
    for first, mask in segments:
        if not kept or kept[-1][1] != mask:
            kept.append((first, mask))
    return CharSet(tuple(kept))


def _atoms(*atoms: Atom) -> CharSet:
    return CharSet(((0, sum(1 << atom for atom in atoms)),))


def code_points(*ranges: str | tuple[int, int]) -> CharSet:
    """Return the set of the given code points.

    Each argument is one character, a range such as "a-z" (both ends belong to it), or a pair of
    code point numbers (first, last). Raises DefinitionError for anything else.

    >>> code_points("a-z", "_") & UPPER == NOTHING
    True
    """
    return _of_ranges(sorted(map(_range, ranges)))


def _range(given: object) -> tuple[int, int]:
    if isinstance(given, str) and len(given) == 1:
        first = last = ord(given)
    elif isinstance(given, str) and len(given) == 3 and given[1] == "-":
        first, last = ord(given[0]), ord(given[2])
    elif isinstance(given, tuple) and [type(bound) for bound in given] == [int, int]:
        first, last = given
    else:
        raise DefinitionError(
            f"code_points: expected a character, a range like 'a-z' or a pair of numbers, "
            f"got {shortened(given)}"
        )
    if not 0 <= first <= last < LIMIT:
        raise DefinitionError(
            f"code_points: {shortened(given)} is not an ascending range of code points "
            "below 0x110000"
        )
    return first, last


def _of_ranges(ranges: list[tuple[int, int]]) -> CharSet:
    """Return the set of `ranges`, which ascend but may overlap."""
    # ASCII has had the same categories in every Unicode version, so there the atoms are known and
    # code_points("'") and LETTER come out disjoint. Beyond ASCII any atom may occur.
    segments = [(0, 0)]
    end = 0
    for start, last in ranges:
        first = max(start, end)
        if first > last:
            continue
        if segments[-1][0] == first:
            segments.pop()
        segments += [(c, ASCII_MASKS[c]) for c in range(first, min(last + 1, 0x80))]
        if last >= 0x80:
            segments.append((max(first, 0x80), ALL_ATOMS))
        end = last + 1
        if end < LIMIT:
            segments.append((end, 0))
    return _normal(segments)


def _ascii_atom(code_point: int) -> Atom:
    char = chr(code_point)
    if char in "\r\n":
        return Atom.NEWLINE
    if char == " ":
        return Atom.SPACE
    if char in "\t\v\f":
        return Atom.OTHER_SPACE
    if char.isalpha():
        return Atom.UPPER if char.isupper() else Atom.LOWER
    if char.isdigit():
        return Atom.DIGIT
    if char in "$+<=>^`|~":
        return Atom.SYMBOL
    return Atom.PUNCTUATION if char.isprintable() else Atom.CONTROL


ASCII_MASKS = tuple(1 << _ascii_atom(code) for code in range(0x80))
"""The mask of the atom of each ASCII code point."""
NOTHING = CharSet(((0, 0),))
ANY = ~NOTHING
HAN = _atoms(Atom.HAN_LETTER, Atom.HAN_MARK, Atom.HAN_NUMBER, Atom.HAN_PUNCTUATION, Atom.HAN_SYMBOL)
UPPER = _atoms(Atom.UPPER)
LOWER = _atoms(Atom.LOWER)
CASELESS = _atoms(Atom.CASELESS, Atom.HAN_LETTER)
LETTER = UPPER | LOWER | CASELESS
MARK = _atoms(Atom.MARK, Atom.HAN_MARK)
DIGIT = _atoms(Atom.DIGIT)
NUMBER = DIGIT | _atoms(Atom.OTHER_NUMBER, Atom.HAN_NUMBER)
PUNCTUATION = _atoms(Atom.PUNCTUATION, Atom.HAN_PUNCTUATION)
SYMBOL = _atoms(Atom.SYMBOL, Atom.HAN_SYMBOL)
CONTROL = _atoms(Atom.CONTROL)
NEWLINE = _atoms(Atom.NEWLINE)
SPACE = _atoms(Atom.SPACE)
WHITE_SPACE = NEWLINE | SPACE | _atoms(Atom.OTHER_SPACE)
OTHER = ~(WHITE_SPACE | LETTER | NUMBER)


def _some(chars: CharSet, *ranges: int | tuple[int, int]) -> CharSet:
    return chars & code_points(*((c, c) if isinstance(c, int) else c for c in ranges))


# What follows was measured over all code points from tokenizers 0.23.3 and tiktoken 0.14.0;
# tests/pretok/charsets/test_engine_sets.py compares it with the engines that are installed.
_LETTER_NUMBERS = _some(NUMBER, (0x16EE, 0x16F0), (0x2160, 0x2182), (0x2185, 0x2188),
                        (0xA6E6, 0xA6EF), (0x10140, 0x10174), 0x10341, 0x1034A, (0x103D1, 0x103D5),
                        (0x12400, 0x12686))  # fmt: skip
_CONNECTORS = _some(
    PUNCTUATION, 0x5F, (0x203F, 0x2040), 0x2054, (0xFE33, 0xFE34), (0xFE4D, 0xFE4F), 0xFF3F
)
_ALPHABETIC_SYMBOLS = _some(
    SYMBOL, (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)
)
_JOINERS = _some(CONTROL, (0x200C, 0x200D))
# `\w` of fancy-regex and Rust's regex: Alphabetic, M, Nd, Pc, Join_Control. Of L, Nl, Mn and Mc,
# what is not Alphabetic is M; what else is, are symbols in circles and squares.
WORD = (
    LETTER
    | MARK
    | DIGIT
    | _atoms(Atom.HAN_NUMBER)
    | _LETTER_NUMBERS
    | _CONNECTORS
    | _ALPHABETIC_SYMBOLS
    | _JOINERS
)
# `\w` and `\b` of Oniguruma, and so of a pattern in tokenizers: no joiners, but the numbers that
# are in Latin-1.
ONIGURUMA_WORD = WORD - _JOINERS | _some(NUMBER, (0xB2, 0xB3), 0xB9, (0xBC, 0xBE))
# char::is_numeric of Rust, where it is at Unicode 17.0.
HF_NUMBER = NUMBER | code_points((0x11DE0, 0x11DE9), (0x16FF4, 0x16FF6))
# ASCII's punctuation and symbols, and \p{P} as it was in Unicode 8.0: U+166D and U+111C9 belonged
# to it, and in each range that is taken out there was none of it.
HF_PUNCTUATION = (
    code_points(*"$+<=>^`|~")
    | _some(SYMBOL, 0x166D)
    | _some(MARK, 0x111C9)
    | PUNCTUATION
    - _some(PUNCTUATION, 0x61D, (0x9FD, 0xA76), (0xC77, 0xC84), (0x1B4E, 0x1B4F), (0x1B7D, 0x1B7F),
            (0x2E43, 0x2E63), (0x10D6E, 0x10F89), (0x113D4, 0x1145D), (0x11660, 0x116B9),
            (0x1183B, 0x11FFF), (0x12FF1, 0x12FF2), (0x16D6D, 0x16FE2), (0x1E5FF, 0x1E95F))
)  # fmt: skip
