"""Define Unmade, the tokens that only the look-up of a whole pre-token gives."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from bpe.canonical.beginnings import beginning_with
from bpe.once import kept

MAX_KEPT = 1 << 14
"""The maximal number of starts whose ids are kept, for each method."""


class Unmade:
    """The tokens of two or more bytes that a pre-token becomes, and that merging never gives."""

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        whole: Mapping[bytes, int],
        is_made: NDArray[np.bool_],
        is_open: NDArray[np.bool_],
    ) -> None:
        """Find the tokens.

        `whole` has the ids of pre-tokens that are looked up before merging. `is_made` says for each
        id whether merging gives it, and `is_open` whether it ends inside a character.
        """
        self._is_open = is_open
        self._sorted_ids = sorted(tokens, key=lambda id: tokens[id])
        self._sorted = [tokens[id] for id in self._sorted_ids]
        self._unmade = sorted(
            token for token, id in whole.items() if not is_made[id] and len(token) > 1
        )
        self._joined = b"\xff".join(self._unmade)  # no UTF-8 has this byte

    def may_end_with(self, end: bytes) -> bool:
        """Return whether one of the tokens ends with `end`."""
        return any(token.endswith(end) for token in self._unmade)

    def may_hold(self, left: bytes, right: bytes) -> bool:
        """Return whether one of the tokens has `left` + `right` inside, or begins with `right`."""
        return left + right in self._joined or bool(beginning_with(self._unmade, right))

    @kept(MAX_KEPT)
    def after(self, start: bytes) -> list[int]:
        """Return the ids that, after `start`, may become a part of one of the tokens.

        If `start` is empty, a token that is a whole pre-token is no doubt.
        """
        doubtful: list[int] = []
        for place in beginning_with(self._unmade, start):
            rest = self._unmade[place][len(start) :]
            if start:
                doubtful += self._ids_of(rest)
            for size in range(1, len(rest)):
                doubtful += [id for id in self._ids_of(rest[:size]) if self._is_open[id]]
        return doubtful

    @kept(MAX_KEPT)
    def ids_beginning(self, start: bytes) -> list[int]:
        """Return the ids of all tokens whose bytes begin with `start`."""
        places = beginning_with(self._sorted, start)
        return self._sorted_ids[places.start : places.stop]

    def _ids_of(self, token: bytes) -> Iterator[int]:
        at = bisect_left(self._sorted, token)
        while at < len(self._sorted) and self._sorted[at] == token:
            yield self._sorted_ids[at]
            at += 1
