"""Define Pairs, which knows the ids that may follow an id in one pre-token.

Tokens are the result of merging a pre-token if each token is the result of merging its own bytes,
and each pair of neighbors is that of merging the bytes of the pair. Proof: consider the first merge
of the pre-token that joins bytes of two neighbors. Until then, each neighbor has merged as it does
alone, and both in the order in which they merge as a pair, because the lowest rank comes first, and
the leftmost of equal ranks. So merging the pair alone joins the two as well. The converse holds
too: if no merge joins two neighbors, both merge as they do alone.

Two neighbors join if a symbol a at the right edge of the left token and a symbol b at the left edge
of the right token exist at the same time and merge before either takes part in another merge. A
token is ordered if every merge that makes it has a higher rank than the merges that make its parts.
The merges of ordered tokens happen in the order of ranks. Then a and b join if their merge has a
lower rank than the next merge of a, and not a higher rank than the next merge of b. Pairs with
another token, of which most vocabularies have none, are merged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.merge import merge, merge_finder
from bpe.once import once
from bpe.vocabulary import Rows, Vocabulary

Bits: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

NEVER = 1 << 40
"""The rank of a merge that does not happen."""
MAX_KEPT = 1024
"""The maximal number of ids whose followers are kept; each takes a bit per id."""


class Pairs:
    """The pairs of tokens that stay two tokens when their bytes are merged.

    `is_made` says for each id whether merging its bytes gives it.
    """

    def __init__(self, vocabulary: Vocabulary, rows: Callable[[], Rows], size: int) -> None:
        """Prepare the vocabulary; `rows` returns the merges, recovered from ranks if necessary."""
        self._vocabulary = vocabulary
        self._size = size
        self._find = merge_finder(vocabulary)
        self._byte_ids = vocabulary.byte_ids
        self._tokens = vocabulary.token_bytes
        merges = rows().astype(np.int64).reshape(-1, 3)
        self._left = np.full(size, -1, np.int64)
        self._right = np.full(size, -1, np.int64)
        self._rank = np.full(size, -1, np.int64)
        ranks = merges[:, 2] if vocabulary.from_ranks else np.arange(len(merges))
        self._left[merges[:, 2]], self._right[merges[:, 2]] = merges[:, 0], merges[:, 1]
        self._rank[merges[:, 2]] = ranks
        self.is_made: Bits = np.zeros(size, bool)
        self.is_made[list(self._byte_ids.values())] = True
        results, counts = np.unique(merges[:, 2], return_counts=True)
        if vocabulary.from_ranks:
            self.is_made[results] = True
        else:
            for id in results.tolist():
                self.is_made[id] = self.merged(self._tokens[id]) == [id]
        self._is_ordered = self._find_ordered(results[counts > 1])
        self._unordered = np.flatnonzero(self.is_made & ~self._is_ordered).tolist()
        self._followers: OrderedDict[int, Bits] = OrderedDict()
        self._partners: dict[int, tuple[Ints, Ints]] = {}
        self._by_left: dict[int, list[tuple[int, int]]] = {}
        self._make_edges()
        if not vocabulary.from_ranks:
            for rank, (left, right, _) in enumerate(merges.tolist()):
                self._by_left.setdefault(left, []).append((right, rank))

    def merged(self, data: bytes) -> list[int]:
        """Return the ids of the bytes of a pre-token, without the look-up of the whole."""
        return merge([self._byte_ids[byte] for byte in data], self._find)

    def byte_id(self, byte: int) -> int:
        """Return the id of the token of a byte."""
        return self._byte_ids[byte]

    def joins(self, left: int, right: int) -> bool:
        """Return whether a merge joins two ids."""
        return self._find(left, right) is not None

    def stay_apart(self, left: int, right: int) -> bool:
        """Return whether merging the bytes of two ids gives the two ids."""
        return self.merged(self._tokens[left] + self._tokens[right]) == [left, right]

    def followers(self, left: int) -> Bits:
        """Return for each id whether `left` and the id stay apart."""
        found = self._followers.get(left)
        if found is None:
            found = self._apart(left) if self._is_ordered[left] else self._apart_by_merging(left)
            self._followers[left] = found
            while len(self._followers) > MAX_KEPT:
                self._followers.pop(next(iter(self._followers)), None)
        return found

    def apart_from(self, left: int, ids: Ints) -> Bits:
        """Return for each of `ids`, which may repeat, whether `left` and the id stay apart."""
        if self._is_ordered[left]:
            return self.followers(left)[ids]
        unique, places = np.unique(ids, return_inverse=True)
        return np.array([self.stay_apart(left, id) for id in unique.tolist()], bool)[places]

    def _find_ordered(self, ambiguous: Ints) -> Bits:
        """Return for each id whether its token is made and ordered.

        Several merges make the ids of `ambiguous`, so the merge that makes them is not known.
        """
        ordered = self.is_made.copy()
        ordered[ambiguous] = False
        whole = np.flatnonzero(self._left >= 0)
        parts = np.stack([self._left[whole], self._right[whole]])
        ordered[whole] &= (self._rank[parts] < self._rank[whole]).all(axis=0)
        size = -1
        while size != int(ordered.sum()):
            size = int(ordered.sum())
            ordered[whole] &= ordered[parts].all(axis=0)
        return ordered

    def _make_edges(self) -> None:
        """Store each token with the symbols at its left edge, sorted by symbol."""
        tokens = np.flatnonzero(self._is_ordered)
        symbols, nexts = tokens.copy(), np.full(len(tokens), NEVER, np.int64)
        rows = []
        owners = tokens
        while len(owners):
            rows.append(np.stack([symbols, owners, self._rank[symbols], nexts]))
            has_parts = self._left[symbols] >= 0
            nexts = self._rank[symbols][has_parts]
            owners, symbols = owners[has_parts], self._left[symbols[has_parts]]
        table = np.concatenate(rows, axis=1)
        table = table[:, np.argsort(table[0], kind="stable")]
        self._edge_owners, self._edge_made, self._edge_next = table[1], table[2], table[3]
        self._edge_starts = np.searchsorted(table[0], np.arange(self._size + 1))

    def _right_edge(self, id: int) -> Iterator[tuple[int, int, int]]:
        """Yield (symbol, rank that makes it, rank of its next merge) at the right edge."""
        following = NEVER
        while id >= 0:
            rank = int(self._rank[id])
            yield id, rank, following
            id, following = int(self._right[id]), rank

    def _apart(self, left: int) -> Bits:
        apart = self.is_made.copy()
        for symbol, made, following in self._right_edge(left):
            partners, ranks = self._partners_of(symbol)
            is_early = ranks < following
            partners, ranks = partners[is_early], ranks[is_early]
            starts, ends = self._edge_starts[partners], self._edge_starts[partners + 1]
            sizes = ends - starts
            total = int(sizes.sum())
            if not total:
                continue
            offsets = np.repeat(ends - np.cumsum(sizes), sizes)
            places = offsets + np.arange(total)
            latest = np.repeat(np.maximum(ranks, made), sizes)
            joins = (self._edge_made[places] < following) & (latest <= self._edge_next[places])
            apart[self._edge_owners[places[joins]]] = False
        for id in self._unordered:
            apart[id] = self.stay_apart(left, id)
        return apart

    def _partners_of(self, symbol: int) -> tuple[Ints, Ints]:
        """Return the ids that merge with `symbol` on their left, and the ranks of these merges."""
        found = self._partners.get(symbol)
        if found is None:
            found = self._partners[symbol] = self._find_partners(symbol)
        return found

    def _find_partners(self, symbol: int) -> tuple[Ints, Ints]:
        if not self._vocabulary.from_ranks:
            pairs = dict(self._by_left.get(symbol, ()))
        else:
            ids, token = self._vocabulary.ids, self._tokens[symbol]
            pairs = {}
            for result in self._beginning_with(token):
                right = ids.get(self._tokens[result][len(token) :])
                if right is not None:
                    pairs[right] = result
        partners = np.fromiter(pairs, np.int64, len(pairs))
        return partners, np.fromiter(pairs.values(), np.int64, len(pairs))

    def _beginning_with(self, start: bytes) -> Iterator[int]:
        """Yield the longer tokens that begin with `start`."""
        tokens, ids = self._sorted
        for place in range(bisect_left(tokens, start), len(tokens)):
            if not tokens[place].startswith(start):
                return
            if len(tokens[place]) > len(start):
                yield ids[place]

    @once
    def _sorted(self) -> tuple[list[bytes], list[int]]:
        """All tokens in the order of their bytes, and their ids."""
        pairs = sorted((token, id) for id, token in self._tokens.items())
        return [token for token, _ in pairs], [id for _, id in pairs]

    def _apart_by_merging(self, left: int) -> Bits:
        apart = np.zeros(self._size, bool)
        for id in np.flatnonzero(self.is_made).tolist():
            apart[id] = self.stay_apart(left, id)
        return apart
