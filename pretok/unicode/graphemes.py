"""Define `grapheme_starts`, which finds the extended grapheme clusters of Unicode 18.

A grapheme is what a reader takes for one character, such as an emoji of several code points. The
rules are those of Unicode Standard Annex 29; their names, such as GB11, are in the comments.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pretok.text import code_points_of
from pretok.unicode import CODE_POINTS

VERSION: Final = "18.0"
HANGUL: Final = range(0xAC00, 0xD7A4)
"""The syllables of Hangul. Every 28th one is LV, and all others are LVT."""


class Kind(IntEnum):
    """The kinds of code points that the rules distinguish.

    LINKER, ZWNJ and EXTEND divide Grapheme_Cluster_Break=Extend by Indic_Conjunct_Break. A
    BARE_LINKER is an Indic linker that does not extend a grapheme.
    """

    OTHER = 0
    CONTROL = 1
    CR = 2
    LF = 3
    PREPEND = 4
    EXTEND = 5
    ZWNJ = 6
    ZWJ = 7
    LINKER = 8
    SPACING_MARK = 9
    L = 10
    V = 11
    T = 12
    LV = 13
    LVT = 14
    CONSONANT = 15
    PICTOGRAPHIC = 16
    REGIONAL_INDICATOR = 17
    BARE_LINKER = 18


Joined: TypeAlias = Callable[[NDArray[np.uint8], NDArray[np.int64]], NDArray[np.bool_]]
"""Takes the kinds of a text and the places of one kind; says which of them join to the left."""
KINDS: Final = dict(zip(Kind, "xcrnpezjkslvtabiogd", strict=True))
"""The letter of each kind in the generated table."""


def grapheme_starts(text: str) -> NDArray[np.int64]:
    """Return the offset in code points at which each grapheme of `text` starts, ascending.

    An empty text has no graphemes. A lone surrogate counts as U+FFFD. Takes linear time.

    >>> grapheme_starts("e\\u0301a\\r\\n").tolist()
    [0, 2, 3]
    """
    if text.isascii() and "\r\n" not in text:
        return np.arange(len(text), dtype=np.int64)
    return cluster_starts(kind_table()[code_points_of(text)])


@cache
def kind_table() -> NDArray[np.uint8]:
    """Return the kind of each code point."""
    from pretok.unicode.table_graphemes import RUNS

    items = RUNS.split()
    kind_of = {letter: kind for kind, letter in KINDS.items()}
    firsts = np.array([int(item[:-1], 16) for item in items])
    kinds = np.array([kind_of[item[-1]] for item in items], np.uint8)
    table = np.repeat(kinds, np.diff(firsts, append=CODE_POINTS))
    table[HANGUL.start : HANGUL.stop] = Kind.LVT
    table[HANGUL.start : HANGUL.stop : 28] = Kind.LV
    return table


def cluster_starts(
    kinds: NDArray[np.uint8], linked_consonants: Joined | None = None
) -> NDArray[np.int64]:
    """Return the index at which each cluster starts in a text whose code points have `kinds`.

    `linked_consonants` replaces rule GB9c, which differs between Unicode versions.
    """
    if not len(kinds):
        return np.zeros(0, np.int64)
    joins = np.zeros(len(kinds), bool)  # whether a code point joins the one before it
    joins[1:] = _PAIRS[kinds[:-1], kinds[1:]]
    for joined, kind in (
        (linked_consonants or _linked_consonants, Kind.CONSONANT),
        (_joined_pictographs, Kind.PICTOGRAPHIC),
        (_joined_indicators, Kind.REGIONAL_INDICATOR),
    ):
        places = np.flatnonzero(kinds == kind)
        if len(places):
            joins[places[joined(kinds, places)]] = True
    return np.flatnonzero(~joins)


def _pairs() -> NDArray[np.bool_]:
    """Return whether two adjacent code points join by their kinds alone: [left, right]."""
    after = {
        Kind.L: (Kind.L, Kind.V, Kind.LV, Kind.LVT),  # GB6
        **dict.fromkeys((Kind.LV, Kind.V), (Kind.V, Kind.T)),  # GB7
        **dict.fromkeys((Kind.LVT, Kind.T), (Kind.T,)),  # GB8
        Kind.PREPEND: tuple(Kind),  # GB9b
    }
    table = np.zeros((len(Kind), len(Kind)), bool)
    for left, rights in after.items():
        table[left, rights] = True
    table[:, [*EXTENDING, Kind.ZWJ, Kind.SPACING_MARK]] = True  # GB9, GB9a
    controls = [Kind.CONTROL, Kind.CR, Kind.LF]
    table[controls, :] = table[:, controls] = False  # GB4, GB5
    table[Kind.CR, Kind.LF] = True  # GB3
    return table


EXTENDING: Final = (Kind.EXTEND, Kind.ZWNJ, Kind.LINKER)
"""The kinds of Grapheme_Cluster_Break=Extend."""
LINKERS: Final = (Kind.LINKER, Kind.BARE_LINKER)
"""The kinds of Indic_Conjunct_Break=Linker."""
_PAIRS = _pairs()


def _linked_consonants(kinds: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each Indic consonant follows a linker, with only marks between (GB9c)."""
    is_mark = np.isin(kinds, (Kind.EXTEND, Kind.ZWJ))
    last_other = np.maximum.accumulate(np.where(is_mark, -1, np.arange(len(kinds))))
    before = last_other[places - 1]
    is_linked: NDArray[np.bool_] = np.isin(kinds[before], LINKERS) & (before >= 0) & (places > 0)
    return is_linked


def _joined_pictographs(kinds: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each pictograph joins the pictograph before it (GB11).

    It does if the two have a ZWJ between them, and before the ZWJ only marks.
    """
    has_only_marks = between(np.isin(kinds, EXTENDING), places) == np.diff(places) - 2
    return np.append(False, has_only_marks & (kinds[places[1:] - 1] == Kind.ZWJ))


def _joined_indicators(_: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each regional indicator is the second one of a flag (GB12, GB13)."""
    indices = np.arange(len(places))
    is_first_of_run = np.append(True, np.diff(places) > 1)
    run_starts = np.maximum.accumulate(np.where(is_first_of_run, indices, 0))
    is_second: NDArray[np.bool_] = (indices - run_starts) % 2 == 1
    return is_second


def between(flags: NDArray[np.bool_], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of `flags` are true between adjacent `places`, whose flags are false."""
    counts: NDArray[np.int64] = np.diff(np.cumsum(flags)[places])
    return counts
