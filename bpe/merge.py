"""Merge the bytes of a pre-token into tokens, in pure Python.

Repeatedly merge the adjacent pair with the lowest rank, until no adjacent pair can merge (Sennrich
et al. 2016, with bytes as symbols). If several pairs have the lowest rank, merge the leftmost.
cpp/core/bpe/merge.hpp is the C++ version, with the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise

from bpe.errors import UnknownTokenError
from bpe.vocabulary import UNASSIGNED, Merge, Vocabulary

RankedMerge = tuple[int, int]
"""The rank of a pair of ids that can merge, and the id of the merged token."""
FindMerge = Callable[[int, int], RankedMerge | None]
"""Takes a left and a right id; returns their merge, or None if they do not merge."""

MAX_SCANNED = 64
"""Up to this number of symbols, a scan for the lowest rank is faster than a heap."""


class Merger:
    """Merges pre-tokens with the tokens and ranks of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._byte_ids = vocabulary.byte_ids
        self._find = merge_finder(vocabulary)
        # Pre-tokens that become one token without merging.
        self._whole = vocabulary.ids if vocabulary.ignore_merges else {}

    def merge(self, pre_token: bytes) -> list[int]:
        """Return the ids of the tokens of `pre_token`. Takes O(n log n) time.

        Raises UnknownTokenError for a byte that has no token.

        >>> tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab", 257: b"bc"}
        >>> Merger(Vocabulary(tokens)).merge(b"abcbc")
        [256, 99, 257]
        """
        whole = self._whole.get(pre_token)
        if whole is not None:
            return [whole]
        try:
            symbols = [self._byte_ids[byte] for byte in pre_token]
        except KeyError as error:
            raise missing_byte_error(error.args[0]) from None
        return merge(symbols, self._find)


def missing_byte_error(byte: int) -> UnknownTokenError:
    """Return the error for text with a byte that has no token."""
    if byte in UNASSIGNED:
        description = "the first byte of unassigned code points"
        advice = "remove code points from U+40000 to U+BFFFF"
    else:
        description = "which never occurs in UTF-8"
        advice = "remove it, or decode the text with errors='replace' first"
    return UnknownTokenError(
        f"the text holds byte 0x{byte:02x}, {description}; this vocabulary has no token for it; "
        f"{advice}"
    )


def merge_finder(vocabulary: Vocabulary) -> FindMerge:
    """Return the function that looks up the merge of two ids of `vocabulary`."""
    if vocabulary.merges is not None:
        # If a pair is listed twice, the later rank counts, as in Hugging Face's tokenizers.
        ranks = {
            (left, right): (rank, result)
            for rank, (left, right, result) in enumerate(vocabulary.merges)
        }
        return lambda left, right: ranks.get((left, right))
    ids, tokens = vocabulary.ids, vocabulary.token_bytes

    def find(left: int, right: int) -> RankedMerge | None:
        result = ids.get(tokens[left] + tokens[right])
        return None if result is None else (result, result)

    return find


def merge(symbols: list[int], find: FindMerge) -> list[int]:
    """Return the symbols that remain of `symbols` after all merges.

    `symbols` are ids, for example of single bytes. `find` looks up merges. The list `symbols` may
    change.
    """
    return (_merge_short if len(symbols) <= MAX_SCANNED else _merge_long)(symbols, find)


def _merge_short(symbols: list[int], find: FindMerge) -> list[int]:
    # pairs[i] is the merge of symbols[i] and symbols[i + 1], or None.
    pairs = [find(left, right) for left, right in pairwise(symbols)]
    while True:
        best = min(
            ((pair[0], at, pair[1]) for at, pair in enumerate(pairs) if pair is not None),
            default=None,
        )
        if best is None:
            return symbols
        _, at, result = best
        symbols[at : at + 2] = [result]
        del pairs[at]
        if at > 0:
            pairs[at - 1] = find(symbols[at - 1], result)
        if at < len(pairs):
            pairs[at] = find(result, symbols[at + 1])


def _merge_long(symbols: list[int], find: FindMerge) -> list[int]:
    # A merge stores its result at the index of its left symbol, and `empty` at the index of its
    # right symbol. If symbols[i] is not empty, before[i] and after[i] are the indexes of its
    # neighbors that are not empty.
    size = len(symbols)
    empty = -1
    before = list(range(-1, size - 1))
    after = list(range(1, size + 1))
    # Entries (rank, index of the left symbol, left id, right id, id of the result). An entry is
    # stale if a merge has replaced one of its two symbols; the loop skips stale entries.
    heap = [
        (candidate[0], at, left, right, candidate[1])
        for at, (left, right) in enumerate(pairwise(symbols))
        if (candidate := find(left, right)) is not None
    ]
    heapify(heap)

    def push_merge(at: int, next_: int) -> None:
        candidate = find(symbols[at], symbols[next_])
        if candidate is not None:
            heappush(heap, (candidate[0], at, symbols[at], symbols[next_], candidate[1]))

    while heap:
        _, at, left, right, result = heappop(heap)
        next_ = after[at]
        if symbols[at] != left or next_ == size or symbols[next_] != right:
            continue
        symbols[at], symbols[next_] = result, empty
        after[at] = after[next_]
        if after[at] < size:
            before[after[at]] = at
            push_merge(at, after[at])
        if before[at] >= 0:
            push_merge(before[at], at)
    return [symbol for symbol in symbols if symbol != empty]


def recover_merges(vocabulary: Vocabulary) -> Iterator[Merge]:
    """Yield the merges that the ranks of a vocabulary imply, in order of rank.

    If the vocabulary has `merges`, yield these. Otherwise find the two parts of each token. Before
    a merge makes a token, no byte of the token merges with a byte outside the token. So the bytes
    of the token merge as if they were a whole pre-token. If this pre-token is merged without the
    token itself, the two parts of the token remain. If more than two parts remain, no merge makes
    the token, and only a pre-token of exactly these bytes becomes the token. The search takes
    seconds for 100,000 tokens.
    """
    if vocabulary.merges is not None:
        yield from vocabulary.merges
        return
    find = merge_finder(vocabulary)
    for id, token in sorted(vocabulary.token_bytes.items()):
        if len(token) == 1:
            continue

        def find_without(left: int, right: int, excluded: int = id) -> RankedMerge | None:
            candidate = find(left, right)
            return candidate if candidate is not None and candidate[1] != excluded else None

        parts = merge([vocabulary.byte_ids[byte] for byte in token], find_without)
        if len(parts) == 2:
            yield (parts[0], parts[1], id)
