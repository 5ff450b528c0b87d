"""Define CharSet, the type of the character sets in rules, and the sets of published patterns.

The atoms are the parts of a fixed partition of the code points. Atoms are general categories,
merged if no built-in preset distinguishes them, and divided by `\\s` and `\\p{Han}`. A CharSet
holds a set of atoms for each range of code points, so it can also express
`LETTER & code_points("a-z")`. A CharSet does not depend on the Unicode version, but the atom of a
code point does (pretok.unicode).
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

    `segments` holds ascending pairs (first code point of the segment, mask of atoms). A code point
    of a segment is in the set if the mask of the segment has the atom of the code point. The first
    segment starts at 0, and adjacent segments have different masks. Sets are equal if their
    segments are equal. Outside ASCII, a set built by `code_points` has all atoms in its masks. So
    such a set may be unequal to a set of the same code points that is built from names. The
    intersection of such a set with a disjoint set may be unequal to NOTHING.

    >>> LETTER & ~LETTER == NOTHING
    True
    """

    segments: tuple[tuple[int, int], ...]

    def mask_at(self, code_point: int) -> int:
        """Return the mask of the atoms in the segment of `code_point`."""
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
    """Return the union of `sets`, in time O(n log n) for n segments in total.

    >>> union([code_points("a"), code_points("b-d")]) == code_points("a-d")
    True
    """
    return _reduced(or_, list(sets), NOTHING)


def intersection(sets: Iterable[CharSet]) -> CharSet:
    """Return the intersection of `sets`, in time O(n log n) for n segments in total."""
    return _reduced(and_, list(sets), ANY)


_Operation = Callable[[int, int], int]


def _reduced(operation: _Operation, sets: list[CharSet], empty_result: CharSet) -> CharSet:
    # Each round combines the sets in pairs and copies each segment at most once. The number of
    # rounds is the logarithm of the number of sets.
    while len(sets) > 1:
        unpaired = sets[-1:] if len(sets) % 2 else []
        pairs = zip(sets[::2], sets[1::2], strict=False)
        sets = [_combine(left, right, operation) for left, right in pairs] + unpaired
    return sets[0] if sets else empty_result


def _combine(left: CharSet, right: CharSet, operation: _Operation) -> CharSet:
    if not isinstance(right, CharSet):
        raise TypeError(f"expected a CharSet, got {type(right).__name__}")
    left_masks, right_masks = dict(left.segments), dict(right.segments)
    left_mask = right_mask = 0
    segments: list[tuple[int, int]] = []
    for first in sorted({**left_masks, **right_masks}):
        left_mask = left_masks.get(first, left_mask)
        right_mask = right_masks.get(first, right_mask)
        segments.append((first, operation(left_mask, right_mask)))
    return _normal(segments)


def _normal(segments: list[tuple[int, int]]) -> CharSet:
    """Return the set of `segments`, with adjacent segments of equal masks joined."""
    joined: list[tuple[int, int]] = []
    for first, mask in segments:
        if not joined or joined[-1][1] != mask:
            joined.append((first, mask))
    return CharSet(tuple(joined))


def _atoms(*atoms: Atom) -> CharSet:
    return CharSet(((0, sum(1 << atom for atom in atoms)),))


def code_points(*ranges: str | tuple[int, int]) -> CharSet:
    """Return the set of the given code points.

    Each argument is one character, an inclusive range such as "a-z", or a pair of code point
    numbers (first, last). Raises DefinitionError for other arguments.

    >>> code_points("a-z", "_") & UPPER == NOTHING
    True
    """
    return _of_ranges(sorted(map(_range, ranges)))


def _range(argument: object) -> tuple[int, int]:
    if isinstance(argument, str) and len(argument) == 1:
        first = last = ord(argument)
    elif isinstance(argument, str) and len(argument) == 3 and argument[1] == "-":
        first, last = ord(argument[0]), ord(argument[2])
    elif isinstance(argument, tuple) and [type(bound) for bound in argument] == [int, int]:
        first, last = argument
    else:
        raise DefinitionError(
            f"code_points: expected a character, a range like 'a-z' or a pair of numbers, "
            f"got {shortened(argument)}"
        )
    if not 0 <= first <= last < LIMIT:
        raise DefinitionError(
            "code_points: expected an ascending range of code points below 0x110000, got "
            f"{shortened(argument)}"
        )
    return first, last


def _of_ranges(ranges: list[tuple[int, int]]) -> CharSet:
    """Return the set of `ranges`, which are sorted but may overlap."""
    # An ASCII code point has the same atom in every Unicode version, so its mask has only this
    # atom, and code_points("'") & LETTER is NOTHING. Masks of other code points have all atoms.
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
    """Return the members of `chars` in `ranges`: code points or pairs (first, last)."""
    return chars & code_points(*((c, c) if isinstance(c, int) else c for c in ranges))


# The following sets were measured: every code point was tested in tokenizers 0.23.3 and in tiktoken
# 0.14.0. tests/pretok/charsets/test_engine_sets.py compares the sets with the installed engines.
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
# The set of `\w` in fancy-regex and in Rust's regex: Alphabetic, M, Nd, Pc and Join_Control. All
# members of L and Nl are Alphabetic. The only other Alphabetic code points outside M are circled
# and squared symbols.
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
# The set of `\w` and `\b` in Oniguruma, the engine of Hugging Face's tokenizers. Unlike WORD, it
# lacks the joiners U+200C and U+200D, and has the superscript digits and fractions of Latin-1.
ONIGURUMA_WORD = WORD - _JOINERS | _some(NUMBER, (0xB2, 0xB3), 0xB9, (0xBC, 0xBE))
# The set of Rust's char::is_numeric, in Unicode 17.0. In older Unicode versions, NUMBER lacks the
# listed code points, but HF_NUMBER must have them with every version.
HF_NUMBER = NUMBER | code_points((0x11DE0, 0x11DE9), (0x16FF4, 0x16FF6))
# The characters that Hugging Face's tokenizers treats as punctuation: the punctuation and symbols
# of ASCII, and \p{P} of Unicode 8.0. In Unicode 8.0, U+166D and U+111C9 were punctuation, and the
# code points of the subtracted ranges were not.
HF_PUNCTUATION = (
    code_points(*"$+<=>^`|~")
    | _some(SYMBOL, 0x166D)
    | _some(MARK, 0x111C9)
    | PUNCTUATION
    - _some(PUNCTUATION, 0x61D, (0x9FD, 0xA76), (0xC77, 0xC84), (0x1B4E, 0x1B4F), (0x1B7D, 0x1B7F),
            (0x2E43, 0x2E63), (0x10D6E, 0x10F89), (0x113D4, 0x1145D), (0x11660, 0x116B9),
            (0x1183B, 0x11FFF), (0x12FF1, 0x12FF2), (0x16D6D, 0x16FE2), (0x1E5FF, 0x1E95F))
)  # fmt: skip
