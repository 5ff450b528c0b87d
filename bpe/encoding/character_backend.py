"""CharacterBackend: a CharacterVocabulary in C++, as a vocabulary of bytes.

A BPE over characters is a BPE over bytes that first merges the bytes of each character. So C++
needs no second merger. `byte_vocabulary` adds these merges, with the lowest ranks, and a symbol for
each beginning of a character, such as E2 96 of "▁". No merge of theirs crosses two characters, so
characters are complete before any pieces merge. The symbols that are no pieces have ids from
`first_symbol` on. If any is left at the end, `CharacterBackend` makes tokens of their bytes, or
one unknown token of adjacent symbols.

A score makes the rank of a piece. If all scores differ, at most one pair of symbols ever merges to
a piece: the one in which merging its own text ends (`recover_merges` of bpe/merge.py). Pieces with
equal scores need the Python backend, except runs of one character that merge last
(`TiedRuns`): `CharacterBackend` merges those after C++ has merged all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bpe.characters import SPACE_MARK, CharacterVocabulary
from bpe.encoding.python_backend import concatenate_ids
from bpe.encoding.utf8 import StrOrBytes
from bpe.errors import SpecialTokenError
from bpe.text_vocabulary import TextVocabulary
from bpe.types import Ids, Offsets
from bpe.vocabulary import Packed
from pretok.charsets.sets import ANY, code_points
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer, native_machine
from pretok.preset import Preset
from pretok.rules import Run
from pretok.stage import Stage

if TYPE_CHECKING:
    from pretok import _core

Calls = TypeVar("Calls")

_MARKS = Run(code_points((ord(SPACE_MARK), ord(SPACE_MARK))))
UNCUT = Preset("uncut", rules=(Run(ANY),))
CUT_AT_MARKS = Preset("cut-at-marks", stages=(Stage((_MARKS,), behavior="merged_with_next"),))
"""Cuts before each run of "▁", for a CharacterVocabulary that `allows_cuts`."""


class ByteVocabulary(NamedTuple):
    """A CharacterVocabulary as bytes. Pieces have their ids, all other symbols ids above them."""

    tokens: Packed
    merges: NDArray[np.uint32]
    symbols: list[bytes]
    """The symbols that are no pieces, in order of their ids."""


def byte_vocabulary(vocabulary: CharacterVocabulary, first_symbol: int) -> ByteVocabulary:
    """Return `vocabulary` as a vocabulary of bytes; its scores must be distinct."""
    if isinstance(vocabulary, TextVocabulary):
        return _of_merges(vocabulary, first_symbol)
    ranks, pieces = vocabulary.ranks, vocabulary.pieces
    starts = {
        data[:size]
        for char in set("".join(pieces))
        for data in [char.encode()]
        for size in range(2, len(data) + 1)
    }
    runs = vocabulary.tied_runs
    tied = {id for size, id in runs.ids.items() if size > 1} if runs is not None else set()
    words = sorted(
        (text for text, id in pieces.items() if len(text) > 1 and id not in tied),
        key=lambda text: ranks[pieces[text]],
    )
    in_order = [bytes([byte]) for byte in range(256)] + sorted(starts)
    known = {text.encode(): id for text, id in pieces.items() if id not in tied}
    symbols = [symbol for symbol in in_order if symbol not in known]
    ids = known | {symbol: first_symbol + index for index, symbol in enumerate(symbols)}
    in_order += [text.encode() for text in words]
    renamed = np.array([ids[symbol] for symbol in in_order], np.uint32)
    by_rank = Packed.of(dict(enumerate(in_order)))
    merges = _encoder(by_rank, None, _native(UNCUT), 0).merges()
    return ByteVocabulary(by_rank._replace(ids=renamed), renamed[merges], symbols)


def _of_merges(vocabulary: TextVocabulary, first_symbol: int) -> ByteVocabulary:
    """Return `vocabulary` as a vocabulary of bytes, with the merges of characters first."""
    texts = vocabulary.texts
    merged = set(chain.from_iterable(vocabulary.merges))
    known = {text.encode(): id for id, text in texts.items() if len(text) == 1 or id in merged}
    starts = {
        data[:size]
        for text in vocabulary.pieces
        if len(text) == 1
        for data in [text.encode()]
        for size in range(2, len(data) + 1)
    }
    in_order = [bytes([byte]) for byte in range(256)] + sorted(starts, key=len)
    symbols = [symbol for symbol in in_order if symbol not in known]
    ids = known | {symbol: first_symbol + index for index, symbol in enumerate(symbols)}
    joins = [(ids[start[:-1]], ids[start[-1:]], ids[start]) for start in in_order[256:]]
    tokens = Packed.of({id: data for data, id in ids.items()})
    merges = np.array([*joins, *vocabulary.merges], np.uint32).reshape(-1, 3)
    return ByteVocabulary(tokens, merges, symbols)


def _encoder(
    tokens: Packed,
    merges: NDArray[np.uint32] | None,
    pre_tokenizer: PreTokenizer,
    cache_limit: int,
) -> _core.Encoder:
    from pretok import _core

    return _core.Encoder(
        cast(_core.Machine, native_machine(pre_tokenizer)),
        *tokens,
        len(tokens.ids),
        merges,
        merges is None,
        False,
        False,
        cache_limit,
    )


def _native(preset: Preset) -> PreTokenizer:
    return PreTokenizer(preset, backend="native")


def _within(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0 to size - 1 for each size, one after the other."""
    within: NDArray[np.int64] = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return within


class CharacterBackend:
    """The Backend of a CharacterVocabulary with distinct scores, around _core.Encoder."""

    def __init__(
        self,
        vocabulary: CharacterVocabulary,
        pre_tokenizer: PreTokenizer,
        first_symbol: int,
        cache_limit: int,
    ) -> None:
        """Encode with `vocabulary`; no token has an id of `first_symbol` or more."""
        self._first_symbol = first_symbol
        tokens, merges, symbols = byte_vocabulary(vocabulary, first_symbol)
        if pre_tokenizer.preset == WHOLE:
            pre_tokenizer = _native(CUT_AT_MARKS if vocabulary.allows_cuts else UNCUT)
        self._native = _encoder(tokens, merges, pre_tokenizer, cache_limit)
        self._vocabulary = vocabulary
        self._runs = None if isinstance(vocabulary, TextVocabulary) else vocabulary.tied_runs
        self._has_fallback = vocabulary.fallback_ids is not None
        fallback = np.array(vocabulary.fallback_ids or [0] * 256, np.uint32)
        self._sizes = np.array([len(symbol) for symbol in symbols], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._fallback = fallback[np.frombuffer(b"".join(symbols), np.uint8)]

    def encode(self, text: StrOrBytes, added: Any, threads: int = 0) -> list[int]:
        """Return the ids of `text`."""
        ids: list[int] = self.encode_array(text, added, threads).tolist()
        return ids

    def encode_array(self, text: StrOrBytes, added: Any, threads: int = 0) -> Ids:
        """Return the ids of `text` as an array."""
        symbols = self._native.encode_array(text, added, threads)
        return self._tokens(self._merge_runs(symbols)[0])

    def count(self, text: StrOrBytes, added: Any, threads: int = 0) -> int:
        """Return how many ids `text` has."""
        return len(self.encode_array(text, added, threads))

    def encode_batch(
        self, texts: Sequence[StrOrBytes], added: Any, threads: int = 0
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        rows = []
        for index, text in enumerate(texts):
            try:
                rows.append(self.encode(text, added, threads))
            except SpecialTokenError as error:
                raise SpecialTokenError(error.token, error.position, index) from None
        return rows

    def encode_batch_array(
        self, texts: Sequence[StrOrBytes], added: Any, threads: int = 0
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts, and n + 1 offsets."""
        return concatenate_ids(self.encode_batch(texts, added, threads))

    def spans(self, text: StrOrBytes, added: Any, threads: int = 0) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the half-open span of each id in bytes of UTF-8."""
        symbols, starts, ends = self._native.spans(text, added, threads)
        symbols, first, last = self._merge_runs(symbols)
        starts, ends = starts[first], ends[last]
        if not self._has_fallback:
            first, last = self._unknown_runs(symbols)
            return self._tokens(symbols), starts[first], ends[last]
        sizes, within = self._expansion(symbols)
        is_piece = np.repeat(symbols < self._first_symbol, sizes)
        starts = np.repeat(starts, sizes) + within
        return self._tokens(symbols), starts, np.where(is_piece, np.repeat(ends, sizes), starts + 1)

    def merge(self, pre_token: bytes) -> list[int]:
        """Merge the bytes of one pre-token into ids."""
        symbols = np.array(self._native.merge(pre_token), np.uint32)
        ids: list[int] = self._tokens(self._merge_runs(symbols)[0]).tolist()
        return ids

    def _merge_runs(self, symbols: Ids) -> tuple[Ids, NDArray[np.intp], NDArray[np.intp]]:
        """Merge runs of the character of `TiedRuns`.

        Return the symbols, and the index of the first and the last of `symbols` in each.
        """
        index = np.arange(len(symbols))
        if self._runs is None:
            return symbols, index, index
        ids = self._runs.ids
        is_char = np.concatenate([[False], symbols == ids[1], [False]])
        edges = np.flatnonzero(is_char[1:] != is_char[:-1]).reshape(-1, 2)
        edges = edges[edges[:, 1] - edges[:, 0] > 1]
        if not len(edges):
            return symbols, index, index
        starts, sizes = edges[:, 0], edges[:, 1] - edges[:, 0]
        lengths = {size: self._runs.lengths(size) for size in np.unique(sizes).tolist()}
        # The lengths of the pieces of each run, one after the other.
        pieces = np.array([length for size in sizes.tolist() for length in lengths[size]], np.intp)
        counts = np.ones(len(symbols), np.intp)
        counts[np.repeat(starts, sizes) + _within(sizes)] = 0
        counts[starts] = [len(lengths[size]) for size in sizes.tolist()]
        merged = np.repeat(symbols, counts)
        first = np.repeat(index, counts)
        last = first.copy()
        is_run = np.repeat(np.isin(index, starts), counts)
        by_length = np.zeros(self._runs.longest + 1, np.uint32)
        by_length[list(ids)] = list(ids.values())
        merged[is_run] = by_length[pieces]
        ends = np.cumsum(pieces)
        before = np.repeat(np.cumsum(sizes) - sizes, counts[starts])
        first[is_run] += ends - pieces - before
        last[is_run] = first[is_run] + pieces - 1
        return merged, first, last

    def _tokens(self, symbols: Ids) -> Ids:
        """Return the ids of the tokens that `symbols` become."""
        is_symbol = symbols >= self._first_symbol
        if not is_symbol.any():
            return symbols
        if not self._has_fallback:
            first, _ = self._unknown_runs(symbols)
            return np.where(is_symbol, np.uint32(self._vocabulary.unknown_id), symbols)[first]
        sizes, within = self._expansion(symbols)
        tokens = np.repeat(symbols, sizes)
        expanded = np.repeat(is_symbol, sizes)
        index = tokens[expanded] - self._first_symbol
        tokens[expanded] = self._fallback[self._starts[index] + within[expanded]]
        return tokens

    def _unknown_runs(self, symbols: Ids) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the index of the first and the last symbol of each token.

        Adjacent symbols that are no pieces are one token.
        """
        is_symbol = symbols >= self._first_symbol
        joins = is_symbol[1:] & is_symbol[:-1]
        begins = np.concatenate([np.ones(min(1, len(symbols)), bool), ~joins])
        first = np.flatnonzero(begins)
        return first, np.append(first[1:], len(symbols))[: len(first)] - 1

    def _expansion(self, symbols: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many tokens each symbol becomes, and the index of each token in its symbol."""
        is_symbol = symbols >= self._first_symbol
        sizes = np.ones(len(symbols), np.int64)
        sizes[is_symbol] = self._sizes[symbols[is_symbol] - self._first_symbol]
        return sizes, _within(sizes)

    def merges(self) -> NDArray[np.uint32]:
        """Return every pair of pieces that may merge, one per row."""
        return np.array(self._vocabulary.merges, np.uint32).reshape(-1, 3)

    def safe_cut(self, text: bytes, added: Any, nfc: bool) -> int:
        """Return 0: this backend finds no cut."""
        return 0

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None:
        """Return the bytes of `ids`, or None if one of them is not the id of a token."""
        tokens = self._vocabulary.token_bytes
        try:
            return b"".join([tokens[int(id)] for id in ids])
        except (KeyError, TypeError):
            return None

    def is_normal(self, text: StrOrBytes) -> bool:
        """Return True only if `text` is in NFC."""
        return self._native.is_normal(text)

    def normalized(self, data: bytes) -> bytes:
        """Return UTF-8 in NFC."""
        return self._native.normalized(data)

    @staticmethod
    def all_take_fast_path(
        texts: list[Any], only_str: bool, only_ascii: bool, only_normal: bool
    ) -> bool:
        """Return False: the pipeline has to check each text."""
        return False

    @staticmethod
    def fast_calls(
        added: object, others: Calls, only_str: bool, only_ascii: bool, only_normal: bool
    ) -> Calls:
        """Return `others`: the fast calls of C++ do not expand symbols."""
        return others

    @staticmethod
    def decode_calls(special: Sequence[int], others: Calls) -> Calls:
        """Return `others`."""
        return others

    @property
    def cache_bytes(self) -> int:
        """How many bytes the caches hold."""
        return self._native.cache_bytes

    def trim(self) -> None:
        """Free the caches."""
        self._native.trim()
