"""UnicodeScripts, whose pieces are found at once, and by stages in three steps."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pretok.charsets.classified_text import code_points_of
from pretok.charsets.sets import ALL_ATOMS, ANY, CharSet
from pretok.pre_tokenizers.block import Block
from pretok.pre_tokenizers.piece import Piece
from pretok.rules import Run
from pretok.stage import Stage
from pretok.unicode import CODE_POINTS

JOINER = 0
GROUPS = 12
"""The scripts make up GROUPS groups in two ways, so that no two scripts share a group in both."""


@dataclass(frozen=True)
class UnicodeScripts(Block):
    """Cuts where the script changes, as SentencePiece does.

    Hiragana and Katakana count as Han. U+0020 and what has no script, as it was in an old Unicode
    version, belong to the piece before; where none is before, they are dropped, as tokenizers
    does.

    >>> [part for part, _ in UnicodeScripts().pre_tokenize_str(" ok, どこ 東京?")]
    ['ok', ', ', 'どこ 東京', '?']
    """

    def pieces(self, piece: Piece) -> Iterator[Piece]:
        scripts = _scripts()[code_points_of(piece.text)]
        places = np.flatnonzero(scripts != JOINER)
        starts = places[np.diff(scripts[places], prepend=np.uint8(JOINER)) != 0].tolist()
        for start, end in zip(starts, [*starts[1:], len(piece.text)], strict=False):
            yield piece.part(start, end)

    def stages(self) -> tuple[Stage, ...]:
        return _stages()


@cache
def _stages() -> tuple[Stage, ...]:
    # Rules tell 31 classes apart at most, and there are 135 scripts.
    joiners = _set([JOINER])
    begun = Stage((Run(~joiners, at_most=1, tail=ANY),), behavior="removed", invert=True)
    neighbors = [_set(range(n * GROUPS, (n + 1) * GROUPS)) for n in range(GROUPS)]
    others = [_set(range(n, GROUPS * GROUPS, GROUPS)) for n in range(GROUPS)]
    return begun, *(
        Stage(tuple(Run(scripts | joiners) for scripts in groups)) for groups in (neighbors, others)
    )


def _set(scripts: Container[int]) -> CharSet:
    """Return the code points of `scripts`."""
    segments: list[tuple[int, int]] = []
    for first, script in _runs():
        mask = ALL_ATOMS if script in scripts else 0
        if not segments or segments[-1][1] != mask:
            segments.append((first, mask))
    return CharSet(tuple(segments))


@cache
def _runs() -> list[tuple[int, int]]:
    """Return the first code point and the script of each run."""
    from pretok.pre_tokenizers.script_table import RUNS

    pairs = (item.split(":") for item in RUNS.split())
    return [(int(first, 16), int(script)) for first, script in pairs]


@cache
def _scripts() -> NDArray[np.uint8]:
    """Return the script of each code point."""
    firsts, scripts = np.array(_runs()).T
    return np.repeat(scripts.astype(np.uint8), np.diff(firsts, append=CODE_POINTS))
