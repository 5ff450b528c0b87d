"""TiedRuns: pieces with equal scores that are runs of one character, such as "▁▁" and "▁▁▁".

Llama 2 and Mistral have such pieces for runs of spaces. No piece with a higher score has the
character twice in a row. So after the merges of these pieces, the characters of a run that are left
merge only with each other. Pieces with lower scores, which `extend` and `initial=` add, merge
later. A later piece that is a run is longer than the pieces of equal scores, so no symbol that it
becomes part of is one of them.

Among pairs with equal scores, the leftmost pair merges first. So the first symbol of a run grows
until it is the longest piece, which does not merge again. The remaining characters of the run then
merge in the same way.

C++ needs merges with distinct ranks. `TiedRuns.merges` has such merges, which give the same pieces.
A merge that extends a piece ranks before the merge of two single characters, so the leftmost piece
is complete before the next piece begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from bpe.merge import RankedMerge, merge
from bpe.once import once


class TiedRuns:
    """The pieces that are runs of `char` and have equal scores.

    `ids` has the id of each piece by its length in characters, and the id of `char` by length 1.

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
        """Return whether the first symbol becomes the longest piece before other symbols merge."""
        symbols = [1] * (2 * self.longest)
        while symbols[0] < self.longest:
            if self._merge_leftmost(symbols) is None:
                return False
        return set(symbols[1:]) == {1}

    @once
    def merges(self) -> tuple[tuple[int, int], ...] | None:
        """The lengths of the two symbols of each merge, in order of rank.

        None if this search finds no order of the merges that gives the same pieces.
        """
        if not self.repeats():
            return None
        # Longer runs need no check: they begin with the longest piece, and the remaining characters
        # merge like a shorter run.
        sizes = range(2 * self.longest + 1)
        steps = [step for size in sizes for step in self._steps(size)]
        used = {merged for merged, _ in steps}
        # TopologicalSorter takes the predecessors of each node: later[pair] has the merges that
        # must rank before `pair`.
        later: dict[tuple[int, int], set[tuple[int, int]]] = {pair: set() for pair in used}
        for merged, others in steps:
            for pair in others & used:
                later[pair].add(merged)
        try:
            merges = tuple(TopologicalSorter(later).static_order())
        except CycleError:
            return None
        ranks = {pair: rank for rank, pair in enumerate(merges)}
        same = all(_merged(size, ranks) == self.lengths(size) for size in sizes)
        return merges if same else None

    def _steps(self, size: int) -> Iterator[tuple[tuple[int, int], set[tuple[int, int]]]]:
        """Yield each merge of a run of `size` characters, and the other pairs that it precedes."""
        symbols = [1] * size
        while True:
            pairs = set(pairwise(symbols))
            merged = self._merge_leftmost(symbols)
            if merged is None:
                return
            yield merged, pairs - {merged}

    def _merged(self, size: int) -> tuple[int, ...]:
        symbols = [1] * size
        while self._merge_leftmost(symbols) is not None:
            pass
        return tuple(symbols)

    def _merge_leftmost(self, symbols: list[int]) -> tuple[int, int] | None:
        """Merge the leftmost pair that is a piece; return the pair, or None if there is none."""
        for at, (left, right) in enumerate(pairwise(symbols)):
            if left + right in self.ids:
                symbols[at : at + 2] = [left + right]
                return left, right
        return None


def _merged(size: int, ranks: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
    """Return the lengths of the pieces of a run of `size` characters, merged by rank."""

    def find(left: int, right: int) -> RankedMerge | None:
        rank = ranks.get((left, right))
        return None if rank is None else (rank, left + right)

    return tuple(merge([1] * size, find))


MAX_RUN = 64
"""The maximal length of a piece of TiedRuns in characters, because `merges` takes cubic time."""


def tied_runs(pieces: Mapping[str, int], words: Mapping[str, int]) -> TiedRuns | None:
    """Return the pieces of equal ranks as TiedRuns, or None if there are no such runs.

    `pieces` has the id of each piece, and `words` the rank of each piece of several characters. The
    result is also None if a run is longer than MAX_RUN, or if other words have equal ranks.
    """
    counts = Counter(words.values())
    ranks = [rank for rank, number in counts.items() if number > 1]
    if len(ranks) != 1:
        return None
    tied = [text for text, rank in words.items() if rank == ranks[0]]
    char = tied[0][0]
    lengths = {1: pieces.get(char, -1)} | {len(text): pieces[text] for text in tied}
    if (
        lengths[1] < 0
        or max(lengths) > MAX_RUN
        or any(text != char * len(text) for text in tied)
        or any(char * 2 in text for text, rank in words.items() if rank < ranks[0])
        or any(words.get(char * size, 0) > ranks[0] for size in range(max(lengths)))
    ):
        return None
    runs = TiedRuns(char, lengths)
    return runs if runs.merges is not None else None
