"""UnicodeScripts: the one block with more classes of code points than rules can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pretok.errors import InvalidRuleError
from pretok.pre_tokenizers.block import Block
from pretok.pre_tokenizers.piece import Piece
from pretok.stage import Stage
from pretok.text import code_points_of
from pretok.unicode import CODE_POINTS

JOINER = 0


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
        raise InvalidRuleError(
            "UnicodeScripts tells 136 kinds of code points apart, more than a stage's rules can; "
            "use it by itself or in a Sequence, not in a Preset"
        )


@cache
def _scripts() -> NDArray[np.uint8]:
    from pretok.pre_tokenizers.script_table import RUNS

    pairs = [item.split(":") for item in RUNS.split()]
    firsts = np.array([int(first, 16) for first, _ in pairs], np.int64)
    scripts = np.array([int(script) for _, script in pairs], np.uint8)
    return np.repeat(scripts, np.diff(firsts, append=CODE_POINTS))
