"""Align the ids of a text with its words and code points, as Hugging Face's tokenizers does.

A word is a pre-token or an added token. A span is (start, end), half-open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from bpe import Tokenizer
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.rows import Alignment, Span
from bpe.encoding.backend import Backend
from bpe.encoding.backends import make_added
from bpe.encoding.offsets import ByteToCharOffsets, byte_offsets
from bpe.encoding.pipeline import Pipeline
from bpe.normalizers.text_normalizer import TextNormalizer, make_normalizer
from bpe.types import Offsets, Treatment
from pretok.pre_tokenizer import PreTokenizer


class _Builder:
    """An alignment that grows segment by segment: added tokens, and the text between them."""

    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._spans: list[Span] = []
        # One function for each segment. It returns the number of the word of each token, counted
        # from 0 within the segment, and the number of words.
        self._words: list[Callable[[], tuple[Iterable[int], int]]] = []

    def add_token(self, token: str, span: Span) -> None:
        """Add an added token, which is a word of its own."""
        self.add([token], [span], lambda: ([0], 1))

    def add(
        self,
        tokens: Iterable[str],
        spans: Iterable[Span],
        words: Callable[[], tuple[Iterable[int], int]],
    ) -> None:
        """Add the tokens of a segment."""
        self._tokens.extend(tokens)
        self._spans.extend(spans)
        self._words.append(words)

    def alignment(self) -> Alignment:
        """Return the alignment of all segments."""
        return Alignment(self._tokens, self._spans, self._number_words)

    def _number_words(self) -> list[int]:
        """Return the number of the word of each token, counted through all segments."""
        numbered: list[int] = []
        first = 0
        for words_of in self._words:
            words, count = words_of()
            numbered.extend([first + word for word in words])
            first += count
        return numbered


class Aligner:
    """Aligns texts with the ids of one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, parts: Parts) -> None:
        self._tokenizer = tokenizer
        self._split = tokenizer.pre_tokenizer
        self._adds_space = tokenizer.add_prefix_space
        self._parts = parts

    @cached_property
    def _pipeline(self) -> Pipeline:
        return self._tokenizer._pipeline_of_segments()

    @cached_property
    def _backend(self) -> Backend:
        return self._pipeline.backend

    @cached_property
    def _normalizer(self) -> TextNormalizer | None:
        normalizer = self._tokenizer.normalizer
        return make_normalizer(normalizer, self._backend, self._pipeline.is_native)

    @cached_property
    def _no_added(self) -> object:
        """The argument of the backend for text in which it must not search added tokens."""
        return make_added((), self._backend)

    def words(self, words: list[str], treatment: Treatment) -> Alignment:
        """Return the alignment of a text that the caller divided into `words`.

        Each item is one word of the result. Spans count from the start of their item.
        """
        tokens: list[str] = []
        spans: list[Span] = []
        numbers: list[int] = []
        for index, word in enumerate(words):
            alignment = self.text(word, treatment)
            tokens += alignment.tokens
            spans += alignment.spans
            numbers.extend(repeat(index, len(alignment.tokens)))
        return Alignment(tokens, spans, lambda: numbers)

    def text(self, text: str, treatment: Treatment) -> Alignment:
        """Return the alignment of a text."""
        data = text.encode()
        whole = _Builder()
        if self._normalizer is None or self._normalizer.keeps(data):
            segments = self._pipeline.segments(data, treatment)
            self._add(whole, text, data, segments, None)
            return whole.alignment()
        chars = byte_offsets(text)
        for segment in self._pipeline.normalized_segments(data, treatment, self._normalizer):
            normal, spans = segment.aligned()
            if not normal:
                continue
            origins = spans + np.searchsorted(chars, segment.start)
            if segment.id is not None:
                whole.add_token(normal, (int(origins[0, 0]), int(origins[-1, 1])))
                continue
            utf8 = normal.encode()
            self._add(whole, normal, utf8, segment.added.segments(utf8)[0], origins)
        return whole.alignment()

    def _add(
        self,
        whole: _Builder,
        text: str,
        data: bytes,
        segments: list[tuple[int, int, int | None]],
        origins: NDArray[np.int64] | None,
    ) -> None:
        """Add the tokens of `text`, whose bytes are `data`.

        If `text` was normalized, `origins` has a row for each of its code points: the span of the
        code point in the original text. Else it is None.
        """
        chars = None if text.isascii() else ByteToCharOffsets(text, "strict")
        for start, end, id in segments:
            part = data[start:end]
            if id is not None:
                starts, ends = np.array([start]), np.array([end])
                [span] = _spans(chars, starts, ends, origins)
                whole.add_token(part.decode(), span)
                continue
            ids, starts, ends = self._backend.spans(part, self._no_added, 1)
            has_space = self._adds_space and part[0] != 0x20
            words = partial(self._words, part, has_space, ends)
            if has_space:
                # The added space has no bytes in the text. As in Hugging Face's tokenizers, a token
                # of this space alone gets the span (0, 1), not (0, 0).
                ends = np.maximum(ends, 1)
            if start:
                starts, ends = starts + start, ends + start
            spans = _spans(chars, starts, ends, origins)
            whole.add(map(self._parts.names.__getitem__, ids.tolist()), spans, words)

    def _words(self, part: bytes, has_space: bool, ends: Offsets) -> tuple[list[int], int]:
        """Return the number of the word of each token, from 0 on, and the number of words.

        `ends` are the ends of the tokens in bytes of `part`, without the added space.
        """
        split = (b" " + part if has_space else part).decode()
        word_ends = self._word_ends(split)
        if not split.isascii():
            word_ends = byte_offsets(split)[word_ends]
        # A token belongs to the word that has its last byte.
        words = np.searchsorted(word_ends, ends + (has_space - 1), side="right")
        return words.tolist(), len(word_ends)

    def _word_ends(self, text: str) -> Offsets:
        split = self._split
        if isinstance(split, PreTokenizer) and split.preset.drops_text:
            return np.array([end for _, end in split.spans(text)], np.int64)
        return np.asarray(split.offsets(text))[1:]


def _spans(
    chars: ByteToCharOffsets | None,
    starts: Offsets,
    ends: Offsets,
    origins: NDArray[np.int64] | None,
) -> Iterable[Span]:
    """Return the span of each token; `chars` is None if each byte is a code point."""
    if chars is not None:
        starts, ends = chars.starts(starts), chars.ends(ends)
    if origins is not None:
        starts, ends = origins[starts, 0], origins[ends - 1, 1]
    return zip(starts.tolist(), ends.tolist(), strict=True)
