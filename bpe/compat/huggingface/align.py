"""Align the ids of a text with its code points and words, as Hugging Face's tokenizers does.

A span is (start, end), half-open, in code points. A word is a pre-token or an added token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bpe import Tokenizer
from bpe.compat.huggingface import internals
from bpe.compat.huggingface.internals import AlignedPiece, Pieces
from bpe.encoding import trim as trim_arrays
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.offsets import UnitOffsets, byte_offsets
from bpe.encoding.pipeline import SpanCall, TokenSpaces
from bpe.normalizers.chain import NFC
from bpe.normalizers.unicode_forms import is_normal
from bpe.once import lazy
from bpe.types import NormalizesText, Offsets, Treatment
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer

if TYPE_CHECKING:
    from bpe.compat.huggingface.parts import Parts

Span: TypeAlias = tuple[int, int]
_UNKNOWN = 255
"""The number of spaces of a token if it depends on the text, or does not fit into a byte."""


class Aligner:
    """Aligns texts with the ids of one tokenizer: in C++, or by `align` if C++ cannot."""

    def __init__(self, tokenizer: Tokenizer, parts: Parts) -> None:
        self._tokenizer = tokenizer
        self._parts = parts
        self._contents = {token.id: token.content for token in tokenizer.added_tokens}
        self._varying = frozenset(
            token.id for token in tokenizer.added_tokens if _varies(token, tokenizer.normalizer)
        )
        self.trims = parts.processor.trims
        self.adds_space = parts.processor.adds_space  # `trim` explains it
        self._calls: dict[tuple[Treatment, bool], SpanCall | None] = {}
        self.calls_used: dict[Treatment, SpanCall | None] = {}
        """The functions that `encode` has used so far, by treatment."""

    def encode(self, text: str, treatment: Treatment) -> tuple[list[int], list[Span]] | None:
        """Return the ids of a text, and their spans as the post-processor leaves them.

        Returns None if C++ cannot handle the text.
        """
        call = self.calls_used.get(treatment)
        if call is None:
            call = self.calls_used[treatment] = self._call(treatment, self.trims)
        return None if call is None else call(text)

    def spans(self, text: str, treatment: Treatment, is_trimmed: bool) -> list[Span] | None:
        """Return the spans of a text, trimmed or not; None if C++ cannot handle it."""
        call = self._call(treatment, is_trimmed)
        encoded = None if call is None else call(text)
        return None if encoded is None else encoded[1]

    def _call(self, treatment: Treatment, is_trimmed: bool) -> SpanCall | None:
        """Return the C++ function that encodes with spans; None if C++ cannot encode this way."""
        key = treatment, is_trimmed
        if key not in self._calls:
            spaces = self._spaces if is_trimmed else None
            self._calls[key] = internals.span_call(self._tokenizer, treatment, spaces)
        return self._calls[key]

    def tokens(self, ids: list[int]) -> list[str] | None:
        """Return the tokens of `ids`; None if one is an added token whose text varies."""
        if not self._varying.isdisjoint(ids):
            return None
        names, contents = self._names, self._contents
        return [names[id] if id in names else contents[id] for id in ids]

    def words(
        self, text: str, ids: list[int], spans: Callable[[], list[Span]]
    ) -> list[int | None] | None:
        """Return the number of the word of each id of a text without added tokens.

        `spans` returns the spans of the ids, not trimmed. Returns None if the text may have added
        tokens, or words that only `align` finds.
        """
        if self._split is None or not self._contents.keys().isdisjoint(ids):
            return None
        if self._split.preset == WHOLE:
            return [0] * len(ids)
        word_ends = np.asarray(self._split.offsets(text))[1:]
        # A token belongs to the word that has its last byte.
        words: list[int | None] = word_ends.searchsorted([end for _, end in spans()]).tolist()
        return words

    @lazy
    def _split(self) -> PreTokenizer | None:
        """The pre-tokenizer, if each word of it is text, and no space is added."""
        tokenizer = self._tokenizer
        split = tokenizer.pre_tokenizer
        if not isinstance(split, PreTokenizer) or split.preset.drops_text:
            return None
        if split.preset != WHOLE and (tokenizer.normalizer or tokenizer.add_prefix_space):
            return None
        return split

    @lazy
    def _names(self) -> Mapping[int, str]:
        return self._parts.names

    def trim_first(self, id: int, span: Span) -> Span:
        """Return the `span` of the first token of a window without white space at its ends."""
        leading, trailing, adds_space = self._spaces
        [trimmed] = _trim([span], [(leading[id], trailing[id])], adds_space)
        return trimmed

    @lazy
    def _spaces(self) -> TokenSpaces:
        """The spaces of all tokens; _UNKNOWN for added tokens with `lstrip` or `rstrip`."""
        texts = {**self._parts.names, **self._contents}
        size = max(texts, default=-1) + 1
        counts = bytearray(size), bytearray(size)
        stripping = {
            token.id for token in self._tokenizer.added_tokens if token.lstrip or token.rstrip
        }
        for id, text in texts.items():
            spaces = trim_arrays.count_spaces(text)
            if id in stripping or max(spaces) >= _UNKNOWN:
                spaces = _UNKNOWN, _UNKNOWN
            counts[0][id], counts[1][id] = spaces
        return bytes(counts[0]), bytes(counts[1]), self.adds_space

    @lazy
    def _pieces(self) -> Pieces:
        return Pieces(self._tokenizer)

    def align(self, text: str, treatment: Treatment) -> Alignment:
        """Return the alignment of a text."""
        return Alignment(list(self._pieces.of(text, treatment)), self._parts.names, self._tokenizer)


def _varies(token: AddedToken, normalizer: NormalizesText | None) -> bool:
    """Return whether an added token may match other text than its content."""
    if token.lstrip or token.rstrip:
        return True
    if not token.normalized or normalizer is None:
        return False
    return normalizer != NFC or not is_normal(token.content)


class Alignment:
    """The token, the span and the number of the word of each id of a text."""

    def __init__(
        self, pieces: list[AlignedPiece], names: Mapping[int, str], tokenizer: Tokenizer
    ) -> None:
        """`names` are the texts of the model's tokens by id."""
        self._pieces = pieces
        self._names = names
        self._tokenizer = tokenizer

    @lazy
    def tokens(self) -> list[str]:
        """The token of each id; of an added token, the text that it matched."""
        tokens: list[str] = []
        for piece in self._pieces:
            if piece.encoded is None:
                tokens.append(piece.text)
            else:
                tokens += map(self._names.__getitem__, piece.encoded[0].tolist())
        return tokens

    @lazy
    def spans(self) -> list[Span]:
        """The span of each id."""
        spans: list[Span] = []
        for text, char_starts, char_ends, encoded in self._pieces:
            if encoded is None:
                spans.append((int(char_starts[0]), int(char_ends[-1])))
                continue
            chars = UnitOffsets(text, "strict")
            # An added space has no bytes in the text. As in Hugging Face's tokenizers, a token of
            # this space alone gets the span (0, 1), not (0, 0).
            ends = char_ends[chars.ends(np.maximum(encoded[2], 1)) - 1]
            starts = char_starts[chars.starts(encoded[1])]
            spans += zip(starts.tolist(), ends.tolist(), strict=True)
        return spans

    @lazy
    def words(self) -> list[int | None]:
        """The number of the word of each id."""
        words: list[int | None] = []
        count = 0
        for text, _, _, encoded in self._pieces:
            if encoded is None:
                words.append(count)
                count += 1
                continue
            last_bytes = encoded[2] - 1
            if self._tokenizer.add_prefix_space and text[0] != " ":
                text = " " + text
                last_bytes = encoded[2]
            word_ends = self._word_ends(text)
            if not text.isascii():
                word_ends = byte_offsets(text)[word_ends]
            # A token belongs to the word that has its last byte.
            words += (count + np.searchsorted(word_ends, last_bytes, side="right")).tolist()
            count += len(word_ends)
        return words

    def _word_ends(self, text: str) -> Offsets:
        split = self._tokenizer.pre_tokenizer
        if isinstance(split, PreTokenizer) and split.preset.drops_text:
            return np.array([end for _, end in split.spans(text)], np.int64)
        return np.asarray(split.offsets(text))[1:]


# The cache is bounded: an added token may match different texts, and each of these texts counts as
# another token.
_count_spaces = lru_cache(1 << 18)(trim_arrays.count_spaces)


def trim(tokens: Sequence[str], spans: Sequence[Span], adds_space: bool) -> list[Span]:
    """Return `spans` without the white space at both ends of each token.

    `adds_space` is the argument `keeps_first` of bpe.encoding.trim.trim.
    """
    return _trim(spans, list(map(_count_spaces, tokens)), adds_space)


def _trim(spans: Sequence[Span], spaces: Sequence[Span], adds_space: bool) -> list[Span]:
    """Return `spans` without the counted `spaces` of each token; see `trim`."""
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    counts = np.array(spaces, np.int64).reshape(-1, 2)
    trimmed = trim_arrays.trim(starts, ends, counts, adds_space)
    return list(zip(*(side.tolist() for side in trimmed), strict=True))
