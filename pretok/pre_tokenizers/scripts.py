"""Define UnicodeScripts, the block that splits a text where the script changes."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pretok.charsets.sets import ALL_ATOMS, ANY, CharSet
from pretok.pre_tokenizers.block import Block
from pretok.pre_tokenizers.piece import Piece
from pretok.rules import Run
from pretok.stage import Stage
from pretok.text import code_points_of
from pretok.unicode import CODE_POINTS

JOINER = 0
"""Script number of the characters that belong to the piece before them."""
GROUPS = 12
"""Number of groups in each of two partitions of the scripts.

Any two scripts are in different groups of at least one partition.
"""


@dataclass(frozen=True)
class UnicodeScripts(Block):
    """Splits where the script changes, as SentencePiece does.

    Hiragana and Katakana count as Han. U+0020 and characters without a script belong to the piece
    before them. At the start of the text, where no piece precedes them, they are dropped. The
    library tokenizers also drops them. The table of scripts is that of the library, and has an old
    Unicode version.

    >>> [part for part, _ in UnicodeScripts().pre_tokenize_str(" ok, どこ 東京?")]
    ['ok', ', ', 'どこ 東京', '?']
    """

    def pieces(self, piece: Piece) -> Iterator[Piece]:
        scripts = script_numbers()[code_points_of(piece.text)]
        positions = np.flatnonzero(scripts != JOINER)
        starts = positions[np.diff(scripts[positions], prepend=np.uint8(JOINER)) != 0].tolist()
        for start, end in zip(starts, [*starts[1:], len(piece.text)], strict=False):
            yield piece.part(start, end)

    def stages(self) -> tuple[Stage, ...]:
        return _stages()


@cache
def _stages() -> tuple[Stage, ...]:
    # A stage has at most 31 classes, too few for 135 scripts. So two stages split the text by
    # groups of scripts. Each of these stages has the groups of one partition (see GROUPS), so at
    # least one of them cuts between any two scripts.
    joiners = _set([JOINER])
    drop_leading_joiners = Stage(
        (Run(~joiners, at_most=1, tail=ANY),), behavior="removed", invert=True
    )
    ranges = [_set(range(n * GROUPS, (n + 1) * GROUPS)) for n in range(GROUPS)]
    strided = [_set(range(n, GROUPS * GROUPS, GROUPS)) for n in range(GROUPS)]
    return drop_leading_joiners, *(
        Stage(tuple(Run(scripts | joiners) for scripts in groups)) for groups in (ranges, strided)
    )


def _set(scripts: Container[int]) -> CharSet:
    """Return the set of the code points whose script is in `scripts`."""
    segments: list[tuple[int, int]] = []
    for first, script in _runs():
        mask = ALL_ATOMS if script in scripts else 0
        if not segments or segments[-1][1] != mask:
            segments.append((first, mask))
    return CharSet(tuple(segments))


@cache
def _runs() -> list[tuple[int, int]]:
    """Return (first code point, script) for each run of code points with one script."""
    from pretok.pre_tokenizers.script_table import RUNS

    pairs = (item.split(":") for item in RUNS.split())
    return [(int(first, 16), int(script)) for first, script in pairs]


@cache
def script_numbers() -> NDArray[np.uint8]:
    """Return the script of each code point."""
    firsts, scripts = np.array(_runs()).T
    return np.repeat(scripts.astype(np.uint8), np.diff(firsts, append=CODE_POINTS))
