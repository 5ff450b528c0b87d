"""BPE dropout: encode a text while some merges are left out at random (Provilkov et al. 2020).

The merge loop is that of Hugging Face's tokenizers, so the ids have its distribution. The queue has
the pairs that can merge, lowest rank first, and the leftmost of equal ranks. Each pair that is
taken from the queue is left out with the probability `dropout`. Pairs that were left out return to
the queue when the next pair is not left out, even if this pair is stale: one of its two symbols has
merged since. Merging ends when the queue is empty. A pre-token is never looked up as a whole.

Draws are those of SplitMix64 (Steele, Lea and Flood 2014). They depend only on the seed and the
index of the text in its batch: mixed(mixed(seed) + index) is the first state.
cpp/core/bpe/dropout.hpp is the C++ version, with the same results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import ceil
from threading import local
from typing import TypeAlias

import numpy as np

from bpe.characters.merger import CharacterMerger, PieceMerger, Sized, TextMerger
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.python_backend import concatenate_ids
from bpe.errors import SpecialTokenError, shortened
from bpe.merge import FindMerge, missing_byte_error
from bpe.types import Errors, Ids, Offsets, Special, Text
from bpe.vocabulary import ID_LIMIT, Merge, Vocabulary

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_DRAW_BITS = 53


def _mixed(state: int) -> int:
    """Return the output of SplitMix64 for a state."""
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
    return state ^ state >> 31


class Draws:
    """The random draws for one text.

    >>> draws = Draws(0.5, seed=1, index=0)
    >>> [draws.is_left_out() for _ in range(8)]
    [True, True, True, False, False, False, True, True]
    """

    def __init__(self, dropout: float, seed: int, index: int) -> None:
        """Begin the draws of a text; `seed` counts modulo 2^64."""
        # Exact: the product is a float without a rest.
        self._limit = ceil(dropout * (1 << _DRAW_BITS))
        self._state = _mixed(_mixed(seed & _MASK) + index & _MASK)

    def is_left_out(self) -> bool:
        """Return True with the probability `dropout`."""
        self._state = self._state + _STEP & _MASK
        return _mixed(self._state) >> 64 - _DRAW_BITS < self._limit


def merge_some(symbols: list[int], find: FindMerge, is_left_out: Callable[[], bool]) -> list[int]:
    """Return the symbols that remain of `symbols` if pairs are left out at random.

    `find` looks up merges, as in bpe.merge. The list `symbols` changes.

    >>> merges = {(1, 2): (0, 3)}
    >>> find = lambda left, right: merges.get((left, right))
    >>> merge_some([1, 2, 1, 2], find, iter([True, False, False]).__next__)
    [3, 3]
    """
    size, empty = len(symbols), -1
    before = list(range(-1, size - 1))
    after = list(range(1, size + 1))
    queue: list[tuple[int, int, int]] = []  # rank, index of the left symbol, result
    for at, (left, right) in enumerate(pairwise(symbols)):
        found = find(left, right)
        if found is not None:
            queue.append((found[0], at, found[1]))
    heapify(queue)

    def push(at: int, next_: int) -> None:
        found = find(symbols[at], symbols[next_])
        if found is not None:
            heappush(queue, (found[0], at, found[1]))

    left_out: list[tuple[int, int, int]] = []
    while queue:
        top = heappop(queue)
        if is_left_out():
            left_out.append(top)
            continue
        for pair in left_out:
            heappush(queue, pair)
        left_out.clear()
        _, at, result = top
        next_ = after[at]
        if symbols[at] == empty or next_ == size:
            continue
        known = find(symbols[at], symbols[next_])
        if known is None or known[1] != result:
            continue
        symbols[at], symbols[next_] = result, empty
        after[at] = after[next_]
        if after[at] < size:
            before[after[at]] = at
        if before[at] >= 0:
            push(before[at], at)
        if after[at] < size:
            push(at, after[at])
    return [symbol for symbol in symbols if symbol != empty]


class _Current(local):
    """The draws of the call that runs in this thread."""

    draws: Draws


class _ByteMerger:
    """Merges the bytes of pre-tokens."""

    def __init__(
        self, vocabulary: Vocabulary, merges: Sequence[Merge], is_left_out: Callable[[], bool]
    ) -> None:
        self._byte_ids = vocabulary.byte_ids
        ranks = {(left, right): (rank, id) for rank, (left, right, id) in enumerate(merges)}
        self._find: FindMerge = lambda left, right: ranks.get((left, right))
        self._is_left_out = is_left_out

    def merge(self, pre_token: bytes) -> list[int]:
        try:
            symbols = [self._byte_ids[byte] for byte in pre_token]
        except KeyError as error:
            raise missing_byte_error(error.args[0]) from None
        return merge_some(symbols, self._find, self._is_left_out)


class _TextMerger(TextMerger):
    """Merges the characters of pre-tokens; neither cuts nor caches them."""

    def __init__(self, vocabulary: TextVocabulary, is_left_out: Callable[[], bool]) -> None:
        super().__init__(vocabulary)
        self._is_left_out = is_left_out

    def merge(self, pre_token: bytes) -> list[int]:
        ids = [symbol & ID_LIMIT - 1 for symbol in self._symbols(self.text_of(pre_token))]
        return merge_some(
            ids, lambda left, right: self._ranks.get((left, right)), self._is_left_out
        )


class _CharacterMerger(CharacterMerger):
    """Does the same for the pieces of SentencePiece."""

    def __init__(self, vocabulary: CharacterVocabulary, is_left_out: Callable[[], bool]) -> None:
        super().__init__(vocabulary)
        self._is_left_out = is_left_out

    def _tokens(self, text: str) -> list[Sized]:
        return self._merge_part(text)

    def _merged(self, symbols: list[int]) -> list[int]:
        return merge_some(symbols, self._find, self._is_left_out)


class PythonSampler:
    """Encodes texts with dropout in Python, as Pipeline does in C++."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: Callable[[], Sequence[Merge]],
        make: Callable[[Callable[[bytes], list[int]]], Pipeline],
    ) -> None:
        """Make the merger of a vocabulary; make(merge) returns the pipeline of a merge function."""
        self._current = _Current()
        merger: PieceMerger | _ByteMerger
        if isinstance(vocabulary, TextVocabulary):
            merger = _TextMerger(vocabulary, self._is_left_out)
        elif isinstance(vocabulary, CharacterVocabulary):
            merger = _CharacterMerger(vocabulary, self._is_left_out)
        else:
            merger = _ByteMerger(vocabulary, merges(), self._is_left_out)
        self._pipeline = make(merger.merge)

    def encode_some(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        continuation: bool,
        dropout: float,
        seed: int,
        index: int = 0,
    ) -> Ids:
        """Return the ids of `text`; `index` is that of the text in its batch."""
        self._current.draws = Draws(dropout, seed, index)
        return self._pipeline.encode_array(text, special, errors, 1, continuation)

    def encode_batch_some(
        self,
        texts: list[Text],
        special: Special,
        errors: Errors,
        threads: int | None,
        dropout: float,
        seed: int,
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all n texts, and n + 1 offsets."""
        self._pipeline.check_batch(texts, errors)
        rows = []
        for index, text in enumerate(texts):
            try:
                rows.append(
                    self.encode_some(text, special, errors, False, dropout, seed, index).tolist()
                )
            except SpecialTokenError as error:
                raise SpecialTokenError(error.token, error.position, index) from None
        return concatenate_ids(rows)

    def _is_left_out(self) -> bool:
        return self._current.draws.is_left_out()


Sampler: TypeAlias = Pipeline | PythonSampler
"""The methods `encode_some` and `encode_batch_some` encode with dropout."""


def check_dropout(dropout: float | None, seed: int | None) -> tuple[float, int]:
    """Return the probability and the seed of a call, modulo 2^64; without a seed, a new one.

    Raises TypeError or ValueError for wrong arguments.
    """
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer))):
        raise TypeError(f"seed={shortened(seed)}; expected an int or None")
    if dropout is None:
        if seed is not None:
            raise ValueError("seed= needs dropout=")
        return 0.0, 0
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float, np.floating)):
        raise TypeError(f"dropout={shortened(dropout)}; expected a number from 0 to 1")
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout={dropout!r}; expected a number from 0 to 1")
    seed = int.from_bytes(os.urandom(8), "little") if seed is None else int(seed)
    return float(dropout), seed & _MASK
