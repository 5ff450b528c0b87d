"""Define the atoms, the parts of a fixed partition of the code points.

Atoms are general categories, merged if no built-in preset distinguishes them, and divided by White
Space and Han. pretok.charsets.sets builds sets from atoms.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

# The 25 code points with the property White_Space in all Unicode versions from 6.3 to 18.0.
WHITE_SPACE_CODE_POINTS = (
    *(*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)


class Atom(IntEnum):
    """The number of each atom, in Python and in C++ (cpp/core/unicode/classes.hpp)."""

    UPPER = 0
    LOWER = 1
    CASELESS = 2
    MARK = 3
    DIGIT = 4
    OTHER_NUMBER = 5
    NEWLINE = 6
    SPACE = 7
    OTHER_SPACE = 8
    PUNCTUATION = 9
    SYMBOL = 10
    CONTROL = 11
    HAN_LETTER = 12
    HAN_MARK = 13
    HAN_NUMBER = 14
    HAN_PUNCTUATION = 15
    HAN_SYMBOL = 16


class AtomKind(NamedTuple):
    """The letter that stands for an atom in the tables, and a description of the members."""

    code: str
    members: str


ATOMS = (
    AtomKind("u", "Lu, Lt"),
    AtomKind("l", "Ll"),
    AtomKind("c", "Lm, Lo, not Han"),
    AtomKind("m", "Mn, Mc, Me, not Han"),
    AtomKind("d", "Nd"),
    AtomKind("n", "Nl, No, not Han"),
    AtomKind("r", "U+000A, U+000D"),
    AtomKind("s", "U+0020"),
    AtomKind("w", "all other White_Space code points"),
    AtomKind("p", "Pc, Pd, Ps, Pe, Pi, Pf, Po, not Han"),
    AtomKind("y", "Sm, Sc, Sk, So, not Han"),
    AtomKind("x", "Cc, Cf, Cs, Co, Cn, not White_Space; any byte that is not UTF-8"),
    AtomKind("L", "Han: Lm, Lo"),
    AtomKind("M", "Han: Mc"),
    AtomKind("N", "Han: Nl"),
    AtomKind("P", "Han: Po"),
    AtomKind("Y", "Han: So"),
)
