"""Define Pairs, which knows the ids that may follow an id in one pre-token.

Tokens are the result of merging a pre-token if each token is the result of merging its own symbols,
and each pair of neighbors is that of merging the symbols of the pair. Proof: consider the first
merge of the pre-token that joins symbols of two neighbors. Until then, each neighbor has merged as
it does alone, and both in the order in which they merge as a pair, because the lowest rank comes
first, and the leftmost of equal ranks. So merging the pair alone joins the two as well. The
converse holds too: if no merge joins two neighbors, both merge as they do alone.

Two neighbors join if a symbol a at the right edge of the left token and a symbol b at the left edge
of the right token exist at the same time and merge before either takes part in another merge. The
level of a merge is the highest rank of all merges that make its result. The merges of a token
happen in the order of levels, and so do those of two neighbors that no merge joins yet. So a and b
join if the levels at which both exist, and the rank of their merge, are below the levels of the
next merges of a and b; and they do not join if one is above. Of equal ranks, the leftmost merges
first, which decides if they are equal. A token is ordered if every merge that makes it has a
higher rank than the merges that make its parts. Pairs with equal levels and a token that is not
ordered, which are rare, are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.canonical.bits import packed_bits
from bpe.merge import FindMerge, RankedMerge, merge
from bpe.once import kept
from bpe.types import Ids
from bpe.vocabulary import Rows

Bits: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
MergeBytes: TypeAlias = Callable[[bytes], list[int]]
"""Returns the ids of the bytes of a pre-token."""

LEVEL_BITS = 34
NEVER = (1 << LEVEL_BITS) - 1
"""The level of a merge that does not happen, above all ranks."""
MAX_KEPT = 1024
"""The maximal number of ids whose followers are kept; each takes a bit per id."""


class Pairs:
    """The pairs of tokens that stay two tokens when their symbols are merged.

    The symbols are bytes, or the characters of a model whose tokens are text: `symbols` returns
    their ids. `is_made` says for each id whether merging its symbols gives it.
    """

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        symbols: Callable[[bytes], list[int]],
        base: Iterable[int],
        find: FindMerge,
        merges: Rows,
        ranks: Ints,
        ids: Mapping[bytes, int] | None,
        size: int,
        merge_bytes: MergeBytes | None = None,
        whole: Container[bytes] = (),
    ) -> None:
        """Prepare `tokens`. `merge_bytes` is a faster function with the results of `merged`.

        Its results may differ for the bytes of `whole`, which are looked up before merging.

        `base` are the ids of all symbols, and `find` looks up merges. `merges` and `ranks` are all
        merges and their ranks. But if `ids` has the id of each token, every two tokens merge whose
        joined bytes are a token; then `merges` has only the last merge of each token.
        """
        self._tokens, self._symbols, self._find = tokens, symbols, find
        self._size = size
        self._merge_bytes, self._whole = merge_bytes, whole
        self._left = np.full(size, -1, np.int64)
        self._right = np.full(size, -1, np.int64)
        self._rank = np.full(size, -1, np.int64)
        self.is_made: Bits = np.zeros(size, bool)
        self.is_made[list(base)] = True
        lefts, rights, results = merges.astype(np.int64).reshape(-1, 3).T
        if ids is not None:
            self._left[results], self._right[results] = lefts, rights
            self._rank[results] = ranks
            self.is_made[results] = True
            lefts, rights, ranks = _all_merges(ids)
        else:
            for id in np.unique(results).tolist():
                self._add_result(id)
        # If a pair is listed twice, the later rank counts, so it comes first here.
        order = np.lexsort((-ranks, rights, lefts))
        found = np.stack([lefts, rights, ranks])[:, order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (found[:2, 1:] != found[:2, :-1]).any(axis=0)
        self._left_ids, self._partners, self._partner_ranks = found[:, is_new]
        self._made = np.flatnonzero(self.is_made)
        self._level, self._is_ordered = self._find_levels()
        self._make_edges()

    def merged(self, data: bytes) -> list[int]:
        """Return the ids of the bytes of a pre-token, without the look-up of the whole."""
        if self._merge_bytes is not None and data not in self._whole:
            return self._merge_bytes(data)
        return merge(self._symbols(data), self._find)

    def joins(self, left: int, right: int) -> bool:
        """Return whether a merge joins two ids."""
        return self._find(left, right) is not None

    def stay_apart(self, left: int, right: int) -> bool:
        """Return whether merging the symbols of two ids gives the two ids."""
        return self.merged(self._tokens[left] + self._tokens[right]) == [left, right]

    @kept(MAX_KEPT)
    def followers(self, left: int) -> Ids:
        """Return a bit mask of the ids that stay apart from an id; it must not be changed."""
        return packed_bits(self.apart(left))

    def apart(self, left: int) -> Bits:
        """Return for each id whether `left` and the id stay apart."""
        apart = self.is_made.copy()
        if not apart[left]:
            apart[:] = False
            return apart
        tied: set[int] = set()
        for symbol, made, following in self._right_edge(left):
            partners, ranks = self._partners_of(symbol)
            made_right = self._level[partners]
            begun = np.maximum(ranks, made)
            # Of equal ranks, a merge of the left token comes first, then that of the pair.
            joins = np.maximum(ranks, made_right) < following
            apart[self._owners(partners[joins], begun[joins])] = False
            if self._has_unordered:
                latest = np.maximum(begun, made_right)
                is_last, is_early = latest == following, latest < following
                tied.update(self._owners(partners[is_last], latest[is_last]).tolist())
                partners, latest = partners[is_early], latest[is_early]
                tied.update(self._owners(partners, latest, latest).tolist())
        for owner in tied:
            if not (self._is_ordered[left] and self._is_ordered[owner]):
                apart[owner] = self.stay_apart(left, owner)
        return apart

    def _owners(self, symbols: Ints, least: Ints, most: Ints | int = NEVER) -> Ints:
        """Return the tokens with one of `symbols` at the left edge.

        Its next merge has a level from `least` to `most`.
        """
        keys = symbols << LEVEL_BITS
        starts = np.searchsorted(self._edge_keys, keys | NEVER - most)
        ends = np.searchsorted(self._edge_keys, keys | NEVER - least, "right")
        sizes = ends - starts
        offsets = np.repeat(ends - np.cumsum(sizes), sizes)
        owners: Ints = self._edge_owners[offsets + np.arange(len(offsets))]
        return owners

    def _add_result(self, id: int) -> None:
        """Find the last merge of the symbols of a token, if merging them gives the token."""

        def find_without(left: int, right: int) -> RankedMerge | None:
            found = self._find(left, right)
            return found if found is not None and found[1] != id else None

        parts = merge(self._symbols(self._tokens[id]), find_without)
        last = self._find(*parts) if len(parts) == 2 else None
        if last is not None and last[1] == id:
            self._rank[id] = last[0]
            self._left[id], self._right[id] = parts
            self.is_made[id] = True

    def _find_levels(self) -> tuple[Ints, Bits]:
        """Return the level of each id, and whether it is ordered."""
        level, ordered = self._rank.copy(), self.is_made.copy()
        whole = np.flatnonzero(self._left >= 0)
        parts = np.stack([self._left[whole], self._right[whole]])
        ordered[whole] &= (self._rank[parts] < self._rank[whole]).all(axis=0)
        while True:
            before = level[whole], ordered[whole]
            level[whole] = np.maximum(level[whole], level[parts].max(axis=0))
            ordered[whole] &= ordered[parts].all(axis=0)
            if (before[0] == level[whole]).all() and (before[1] == ordered[whole]).all():
                break
        self._has_unordered = not ordered[self._made].all()
        return level, ordered

    def _make_edges(self) -> None:
        """Store each token with the symbols at its left edge.

        They are sorted by symbol, and then from the last to the first level of its next merge.
        """
        owners = symbols = self._made
        nexts = np.full(len(owners), NEVER, np.int64)
        rows = []
        while len(owners):
            rows.append(np.stack([symbols << LEVEL_BITS | NEVER - nexts, owners]))
            has_parts = self._left[symbols] >= 0
            nexts = self._level[symbols][has_parts]
            owners, symbols = owners[has_parts], self._left[symbols[has_parts]]
        table = np.concatenate(rows, axis=1)
        order = np.argsort(table[0], kind="stable")
        self._edge_keys, self._edge_owners = table[0, order], table[1, order]

    def _right_edge(self, id: int) -> Iterator[tuple[int, int, int]]:
        """Yield (symbol, level that makes it, level of its next merge) at the right edge."""
        following = NEVER
        while id >= 0:
            level = int(self._level[id])
            yield id, level, following
            id, following = int(self._right[id]), level

    def _partners_of(self, symbol: int) -> tuple[Ints, Ints]:
        """Return the ids that merge with `symbol` on their left, and the ranks of these merges."""
        first, end = np.searchsorted(self._left_ids, (symbol, symbol + 1))
        return self._partners[first:end], self._partner_ranks[first:end]


def _all_merges(ids: Mapping[bytes, int]) -> Ints:
    """Return the left ids, the right ids and the ranks of all merges of two tokens to a third."""
    get = ids.get
    found = [
        (left, right, result)
        for token, result in ids.items()
        for at in range(1, len(token))
        if (left := get(token[:at])) is not None and (right := get(token[at:])) is not None
    ]
    return np.array(found, np.int64).reshape(-1, 3).T
