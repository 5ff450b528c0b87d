"""Merging the bytes of a pre-token into tokens: the reference. cpp/core/bpe/merge.hpp is its twin.

Of all neighbours that can merge, those with the lowest rank do, of equal ones the leftmost, until
none can (Sennrich et al. 2016, with bytes as symbols).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise

from bpe.errors import UnknownTokenError
from bpe.vocabulary import UNASSIGNED, Merge, Vocabulary

Found = tuple[int, int]
"""(rank, id of the result) of two neighbours that can merge."""
Find = Callable[[int, int], Found | None]
"""Says of two ids whether they can merge."""

SHORT = 64
"""Up to so many symbols the lowest rank is found by scanning, else with a heap."""


class Merger:
    """Merges pre-tokens with the tokens and ranks of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._byte_ids = vocabulary.byte_ids
        self._find = finder(vocabulary)
        self._whole = vocabulary.ids if vocabulary.ignore_merges else {}

    def merge(self, pre_token: bytes) -> list[int]:
        """Return the ids of the tokens of `pre_token`. Takes O(n log n) time.

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
        what = "with which code points begin that are no characters"
        advice = "remove those from U+40000 to U+BFFFF"
    else:
        what = "which is never part of UTF-8"
        advice = "remove it, or decode the text with errors='replace' first"
    return UnknownTokenError(
        f"the text holds byte 0x{byte:02x}, {what}, and this vocabulary has no token for it; "
        f"{advice}"
    )


def finder(vocabulary: Vocabulary) -> Find:
    """Return the function that says of two ids of `vocabulary` whether and when they merge."""
    if vocabulary.merges is not None:
        # Where a pair is listed twice the later one counts, as in tokenizers.
        ranks = {
            (left, right): (rank, result)
            for rank, (left, right, result) in enumerate(vocabulary.merges)
        }
        return lambda left, right: ranks.get((left, right))
    ids, tokens = vocabulary.ids, vocabulary.token_bytes

    def find(left: int, right: int) -> Found | None:
        result = ids.get(tokens[left] + tokens[right])
        return None if result is None else (result, result)

    return find


def merge(symbols: list[int], find: Find) -> list[int]:
    """Return `symbols`, the ids of bytes, merged as far as `find` allows; may change the list."""
    return (_merge_short if len(symbols) <= SHORT else _merge_long)(symbols, find)


def _merge_short(symbols: list[int], find: Find) -> list[int]:
    pairs = [find(left, right) for left, right in pairwise(symbols)]
    while True:
        best = min(
            ((found, at) for at, found in enumerate(pairs) if found is not None), default=None
        )
        if best is None:
            return symbols
        (_, result), at = best
        symbols[at : at + 2] = [result]
        del pairs[at]
        if at > 0:
            pairs[at - 1] = find(symbols[at - 1], result)
        if at < len(pairs):
            pairs[at] = find(result, symbols[at + 1])


def _merge_long(symbols: list[int], find: Find) -> list[int]:
    # A merge keeps its left place and empties its right one; `before` and `after` skip those.
    size = len(symbols)
    empty = -1
    before = list(range(-1, size - 1))
    after = list(range(1, size + 1))
    # (rank, place, left, right, result); out of date once the places hold something else.
    heap = [
        (found[0], at, left, right, found[1])
        for at, (left, right) in enumerate(pairwise(symbols))
        if (found := find(left, right)) is not None
    ]
    heapify(heap)

    def consider(at: int, next_: int) -> None:
        found = find(symbols[at], symbols[next_])
        if found is not None:
            heappush(heap, (found[0], at, symbols[at], symbols[next_], found[1]))

    while heap:
        _, at, left, right, result = heappop(heap)
        next_ = after[at]
        if symbols[at] != left or next_ == size or symbols[next_] != right:
            continue
        symbols[at], symbols[next_] = result, empty
        after[at] = after[next_]
        if after[at] < size:
            before[after[at]] = at
            consider(at, after[at])
        if before[at] >= 0:
            consider(before[at], at)
    return [symbol for symbol in symbols if symbol != empty]


def recover_merges(vocabulary: Vocabulary) -> Iterator[Merge]:
    """Yield the merges that a vocabulary from ranks stands for, in order of rank.

    Wherever a token is made, what is around it has not merged with any of it, so its bytes have
    merged as they do by themselves: one merge makes it, of the two parts that its bytes come to if
    it is left out. Where they do not come to two, nothing makes the token, and it is found only as
    a whole. For a vocabulary with merges these are yielded. (The exercise of minbpe; Python takes
    seconds for 100,000 tokens.)
    """
    if vocabulary.merges is not None:
        yield from vocabulary.merges
        return
    find = finder(vocabulary)
    for id, token in sorted(vocabulary.token_bytes.items()):
        if len(token) == 1:
            continue

        def other(left: int, right: int, left_out: int = id) -> Found | None:
            found = find(left, right)
            return found if found is not None and found[1] != left_out else None

        parts = merge([vocabulary.byte_ids[byte] for byte in token], other)
        if len(parts) == 2:
            yield (parts[0], parts[1], id)
