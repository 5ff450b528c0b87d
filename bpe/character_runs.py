"""TiedRuns: pieces with equal scores that are runs of one character, such as "▁▁" and "▁▁▁".

Llama 2 and Mistral have such pieces for runs of spaces, with lower scores than all other pieces. So
these pieces merge last. No other piece has two of the characters in a row, so no other merge
touches a run. The leftmost pair merges first. So the first symbol of a run grows until it is the
longest piece, which does not merge again. The rest of the run then merges as a run by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise


class TiedRuns:
    """The pieces that are runs of `char`, with equal scores, by their lengths.

    >>> runs = TiedRuns("a", {1: 7, 2: 8, 3: 9})
    >>> runs.lengths(8)
    (3, 3, 2)
    """

    def __init__(self, char: str, ids: Mapping[int, int]) -> None:
        self.char = char
        self.ids = dict(ids)
        self.longest = max(ids)
        self._tail = cache(self._merged)

    def lengths(self, size: int) -> tuple[int, ...]:
        """Return the lengths of the pieces of a run of `size` characters."""
        times, rest = divmod(size, self.longest)
        return (self.longest,) * times + self._tail(rest)

    def repeats(self) -> bool:
        """Return whether the other symbols are unmerged when the first one is the longest piece."""
        symbols = [1] * (2 * self.longest)
        while symbols[0] < self.longest:
            if not self._merge_leftmost(symbols):
                return False
        return set(symbols[1:]) == {1}

    def _merged(self, size: int) -> tuple[int, ...]:
        symbols = [1] * size
        while self._merge_leftmost(symbols):
            pass
        return tuple(symbols)

    def _merge_leftmost(self, symbols: list[int]) -> bool:
        """Merge the leftmost pair that is a piece; return whether there is one."""
        for at, (left, right) in enumerate(pairwise(symbols)):
            if left + right in self.ids:
                symbols[at : at + 2] = [left + right]
                return True
        return False


MAX_RUN = 256
"""The maximal length of a piece: finding the pieces of all runs up to this length is cubic."""


def tied_runs(pieces: Mapping[str, int], ranks: Mapping[int, int]) -> TiedRuns | None:
    """Return the runs if the pieces of equal rank are runs that merge last, else None."""
    words = {text: ranks[id] for text, id in pieces.items() if len(text) > 1}
    last = max(words.values(), default=0)
    tied = [text for text, rank in words.items() if rank == last]
    char = tied[0][0] if tied else ""
    lengths = {1: pieces.get(char, -1)} | {len(text): pieces[text] for text in tied}
    other_ranks = [rank for rank in words.values() if rank != last]
    if (
        lengths[1] < 0
        or max(lengths) > MAX_RUN
        or len(set(other_ranks)) < len(other_ranks)
        or any(text != char * len(text) for text in tied)
        or any(char * 2 in text for text, rank in words.items() if rank != last)
    ):
        return None
    runs = TiedRuns(char, lengths)
    return runs if runs.repeats() else None
