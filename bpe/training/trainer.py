"""Define Trainer, which repeatedly merges the most frequent pair of symbols.

cpp/core/train/trainer.hpp is the C++ version, with the same results.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from bpe.training.counting import Words
from pretok.byte_characters import BYTE_CHARACTERS

TieBreak: TypeAlias = Literal["huggingface", "first-seen"]
Pair: TypeAlias = tuple[int, int]
Entry: TypeAlias = tuple[int, Pair, int]
"""A heap entry: minus the count of a pair, the key of the tie-break, the index of the bucket."""

BETWEEN, INSIDE = -1, -2
"""The values of slots without an id: of a slot between two words, and of a slot inside a symbol.

The docstring of Trainer describes slots.
"""


BYTE_ORDER = sorted(range(256), key=BYTE_CHARACTERS.__getitem__)
"""The bytes in the order of the GPT-2 characters that stand for them.

Hugging Face's trainer breaks ties in this order.
"""


MAX_LEARNED_SIZE = 1 << 28
"""The size of all new tokens together, in bytes or characters.

With "first-seen", a long word may become a token of two symbols, then one of three, and so on.
"""

_SPACES = dict.fromkeys(map(ord, "\t\n\v\f\r▁"), " ")
"""The characters that separate words besides the space, for str.translate."""


@dataclass
class _Bucket:
    """A pair and its places in order. The places before index `first` no longer have the pair.

    A place is the index of the first slot of the pair. The docstring of Trainer describes slots.
    """

    pair: Pair
    places: list[int]
    first: int = 0


@dataclass
class _PairCount:
    """The count of a pair, and the buckets of the pair."""

    count: int = 0
    buckets: list[_Bucket] = field(default_factory=list)


def words_of(text: str) -> int:
    """Return the number of words in `text`, in which a character may stand for a byte."""
    return sum(map(bool, text.translate(_SPACES).split(" ")))


class Trainer:
    """Repeatedly merges the most frequent pair of adjacent symbols in `words`.

    A pair counts once for each place in a word, times the count of the word; overlapping places
    count too. Places are merged from left to right. If pairs are equally frequent, `tie_break`
    chooses the pair and the result:

    - "huggingface", like BpeTrainer: the lowest pair (bytes first, in BYTE_ORDER, then tokens in
      order of creation). The result is the existing token with the same bytes, if there is one.
    - "first-seen", like minbpe: the pair that comes first in the words. The result is always a new
      token.

    A pair is not merged if its count is below `min_frequency`, or if the token would have
    `max_token_length` bytes or more and the pair is not two bytes. Both limits work as in
    BpeTrainer.

    The symbols are strings, in which GPT-2's characters stand for bytes, unless there is an
    `alphabet` of other characters, or of tokens: then training goes on with their vocabulary.

    All words are concatenated in one list, with a slot for each character. A symbol stores its id
    in its first and its last slot, so both neighbors are found in constant time. A heap entry has
    the count of a pair, which may be outdated (too high), and a bucket of places of the pair. A
    merge visits only these places. All merges together take O(n log n) time, where n is the size of
    the words.
    """

    def __init__(
        self,
        words: Words | Iterable[tuple[str | Sequence[str], int]],
        tie_break: TieBreak,
        min_frequency: int = 0,
        max_token_length: int | None = None,
        alphabet: Sequence[str] | None = None,
        joins_known: bool = False,
        max_words: int | None = None,
    ) -> None:
        """Load `words`: a WordCounts, or with `alphabet` pairs of symbols and their count.

        `alphabet` has the symbols to merge, in ascending order: characters, or tokens of several
        characters. As in BpeTrainer, other symbols of `words` are dropped, so that their neighbors
        may merge. `max_token_length` then counts characters, not bytes. If `joins_known`, two
        neighbors merge at once if their text is in `alphabet`. The results do not list these
        merges, and `words` must have no such neighbors. No merge makes a token of more than
        `max_words` words; a word is a run of characters other than white space of ASCII and "▁".
        """
        # The number that stands for each character of the alphabet in the results.
        self._names: Sequence[int] = BYTE_ORDER if alphabet is None else range(len(alphabet))
        if alphabet is None:
            alphabet = [BYTE_CHARACTERS[byte] for byte in BYTE_ORDER]
            words = [
                (word.decode("latin-1").translate(BYTE_CHARACTERS), count)
                for word, count in cast("Words", words).take()
            ]
        self._is_first_seen = tie_break == "first-seen"
        self._min_count = max(min_frequency, 1)
        self._too_long = sys.maxsize if max_token_length is None else max_token_length
        self._tokens = list(alphabet)
        self._known: dict[str, int] = {}
        for symbol, token in enumerate(self._tokens):
            self._known.setdefault(token, symbol)
        self._joins_known = joins_known
        self._max_words = max_words
        self._symbols = [BETWEEN]  # the slots
        self._word_of = [0]  # the index of the word of each slot
        self._counts: list[int] = []  # the count of each word
        self._pairs: dict[Pair, _PairCount] = {}
        # The places of the pairs that the current merge creates.
        self._new_places: dict[Pair, list[int]] = {}
        self._buckets: list[_Bucket] = []
        self._heap: list[Entry] = []
        self._merges: dict[Pair, int] = {}
        self._first_merges: list[Pair] = []
        self._learned_size = 0
        for word, count in cast("Iterable[tuple[Sequence[str], int]]", words):
            self._load(word, count)
        self._push_new_pairs()

    @property
    def tokens(self) -> int:
        """The number of tokens that merges have created so far."""
        return len(self._tokens) - len(self._names)

    def merges(self) -> NDArray[np.uint32]:
        """Return a row (left, right, result) for each merge, in order.

        Each of the three numbers is a byte, or 256 + k for new token k, counted from 0. With an
        alphabet of n characters, it is the index of a character, or n + k.
        """
        return self._rows([(*pair, result) for pair, result in self._merges.items()])

    def first_merges(self) -> NDArray[np.uint32]:
        """Return a row for the first merge of each token, in order of creation.

        Several pairs may make the same token, and `merges` has a row for each of these pairs. If a
        pair was merged more than once, `merges` has only its last merge. The rows have the format
        of `merges`.
        """
        first = len(self._names)
        return self._rows([(*pair, first + k) for k, pair in enumerate(self._first_merges)])

    def _rows(self, merges: list[tuple[int, int, int]]) -> NDArray[np.uint32]:
        """Return `merges` as an array; replace each symbol of the alphabet by its name."""
        names = np.arange(len(self._tokens), dtype=np.uint32)
        names[: len(self._names)] = self._names
        return names[np.array(merges, np.uint32).reshape(-1, 3)]

    def step(self, tokens: int) -> bool:
        """Merge until `self.tokens == tokens`; return False if no pair may be merged any more."""
        while self.tokens < tokens:
            if not self._heap:
                return False
            entry = self._heap[0]
            updated = self._entry(entry[-1])
            if updated != entry:  # the entry is outdated
                heapq.heapreplace(self._heap, updated)
                continue
            if -entry[0] < self._min_count:
                return False
            heapq.heappop(self._heap)
            self._merge(self._buckets[entry[-1]])
        return True

    def _load(self, word: Sequence[str], count: int) -> None:
        """Append `word` to the slots, and count its pairs."""
        symbols = [self._known[token] for token in word if token in self._known]
        places = []
        for symbol in symbols:
            places.append(len(self._symbols))
            size = len(self._tokens[symbol])
            self._symbols += [symbol, *[INSIDE] * (size - 2), symbol][:size]
        self._symbols.append(BETWEEN)
        self._word_of += [len(self._counts)] * (len(self._symbols) - len(self._word_of))
        self._counts.append(count)
        for place, pair in zip(places, pairwise(symbols), strict=False):
            if self._may_merge(pair):
                self._gain(pair, count, place)

    def _gain(self, pair: Pair, count: int, place: int) -> None:
        """Count `pair`, which is new at `place`. `count` is the count of the word."""
        counts = self._pairs.get(pair)
        if counts is None:
            counts = self._pairs[pair] = _PairCount()
        counts.count += count
        self._new_places.setdefault(pair, []).append(place)

    def _lose(self, pair: Pair, count: int) -> None:
        # A pair whose token would be too long was never counted.
        if pair in self._pairs:
            self._pairs[pair].count -= count

    def _join_of(self, pair: Pair) -> int | None:
        """Return the token of the alphabet that two neighbors make at once, or None."""
        if not self._joins_known or BETWEEN in pair:
            return None
        known = self._known.get(self._tokens[pair[0]] + self._tokens[pair[1]])
        return None if known is None or known >= len(self._names) else known

    def _may_merge(self, pair: Pair) -> bool:
        """Return whether a pair is counted: it does not join, and is not too long for a token."""
        text = self._tokens[pair[0]] + self._tokens[pair[1]]
        if self._join_of(pair) is not None:
            return False
        if self._max_words is not None and words_of(text) > self._max_words:
            return False
        return len(text) < self._too_long or len(text) == 2

    def _push_new_pairs(self) -> None:
        """Push the pairs of the current merge, each with its places in order, onto the heap."""
        for pair, places in self._new_places.items():
            if self._pairs[pair].count > 0:
                bucket = _Bucket(pair, places)
                self._pairs[pair].buckets.append(bucket)
                self._buckets.append(bucket)
                heapq.heappush(self._heap, self._entry(len(self._buckets) - 1))
        self._new_places = {}

    def _entry(self, index: int) -> Entry:
        """Return the heap entry of a bucket; the lowest entry is merged first."""
        bucket = self._buckets[index]
        order = (self._first_place(bucket), 0) if self._is_first_seen else bucket.pair
        return -self._pairs[bucket.pair].count, order, index

    def _first_place(self, bucket: _Bucket) -> int:
        """Return the first place that still has the pair, or the last place if none has it.

        Set `first` to the index of this place.
        """
        # A place that has lost the pair never has the pair again, so `first` never decreases.
        last = len(bucket.places) - 1
        while bucket.first < last and not self._is_at(bucket.pair, bucket.places[bucket.first]):
            bucket.first += 1
        return bucket.places[bucket.first]

    def _is_at(self, pair: Pair, place: int) -> bool:
        left, right = pair
        symbols = self._symbols
        return symbols[place] == left and symbols[place + len(self._tokens[left])] == right

    def _places_of(self, bucket: _Bucket) -> list[int]:
        """Return the places at which to merge the pair of `bucket`.

        These are the places in `bucket` if the pair has no other bucket. A pair has several buckets
        if several merges made one of its tokens. Then BpeTrainer merges all places of the pair in
        each word that has a place in `bucket`.
        """
        buckets = self._pairs[bucket.pair].buckets
        if len(buckets) == 1:
            return bucket.places[bucket.first :]
        places = {place for each in buckets for place in each.places}
        if self._joins_known:  # as when encoding, all places merge
            return sorted(places)
        words = {self._word_of[place] for place in bucket.places}
        return sorted(place for place in places if self._word_of[place] in words)

    def _merge(self, bucket: _Bucket) -> None:
        pair = left, right = bucket.pair
        token = self._tokens[left] + self._tokens[right]
        result = len(self._tokens)
        if not self._is_first_seen:
            result = self._known.setdefault(token, result)
        if result == len(self._tokens):
            self._learned_size += len(token)
            if self._learned_size > MAX_LEARNED_SIZE:
                raise ValueError(
                    f"the new tokens have more than {MAX_LEARNED_SIZE} bytes or characters "
                    "altogether, because long pre-tokens become tokens; pass max_token_length=, or "
                    "a preset that splits the texts more often"
                )
            self._tokens.append(token)
            self._first_merges.append(pair)
        self._merges.pop(pair, None)  # if a pair is merged again, the last merge counts
        self._merges[pair] = result
        for place in self._places_of(bucket):
            if self._is_at(pair, place):
                self._replace(pair, place, result)
                if self._joins_known:
                    self._join(place)
        self._push_new_pairs()
        if self._joins_known:
            self._pairs[pair].count = 0  # no place is left, though a bucket may be

    def _join(self, place: int) -> None:
        """Merge the symbol at `place` with its neighbors until it joins none of them.

        Of two joins, the one that makes the earlier token comes first, then the left one.
        """
        symbols, tokens = self._symbols, self._tokens
        while True:
            symbol = symbols[place]
            before, after = symbols[place - 1], symbols[place + len(tokens[symbol])]
            joins = []
            for at, pair in enumerate([(before, symbol), (symbol, after)]):
                if (join := self._join_of(pair)) is not None:
                    joins.append((join, at, pair))
            if not joins:
                return
            result, at, pair = min(joins)
            if at == 0:
                place -= len(tokens[before])
            self._replace(pair, place, result)

    def _replace(self, pair: Pair, place: int, result: int) -> None:
        """Replace `pair` at `place` by `result`, and count the new pairs with its neighbors."""
        symbols, tokens = self._symbols, self._tokens
        left, right = pair
        middle, end = place + len(tokens[left]), place + len(tokens[result])
        count = self._counts[self._word_of[place]]
        before, after = symbols[place - 1], symbols[end]
        if before != BETWEEN:
            self._lose((before, left), count)
            if self._may_merge((before, result)):
                self._gain((before, result), count, place - len(tokens[before]))
        symbols[middle - 1] = symbols[middle] = INSIDE
        symbols[place] = symbols[end - 1] = result
        if after != BETWEEN:
            self._lose((right, after), count)
            if self._may_merge((result, after)):
                self._gain((result, after), count, place)
