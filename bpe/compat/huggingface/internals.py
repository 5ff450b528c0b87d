"""Read the private parts of a bpe.Tokenizer. No other module of bpe.compat does."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from bpe import Tokenizer
from bpe.encoding.backends import make_added
from bpe.encoding.offsets import byte_offsets
from bpe.encoding.pipeline import SpanCall, TokenSpaces
from bpe.normalizers.text_normalizer import TextNormalizer, make_normalizer
from bpe.once import lazy
from bpe.types import Offsets, Spans, Treatment


def is_native(tokenizer: Tokenizer) -> bool:
    """Return whether C++ may normalize text, and pad and truncate the ids of a batch."""
    return tokenizer._pipeline.is_native


def known_ids(tokenizer: Tokenizer) -> Collection[int]:
    """Return the ids of all tokens."""
    return tokenizer._known_ids


def span_call(
    tokenizer: Tokenizer, treatment: Treatment, spaces: TokenSpaces | None
) -> SpanCall | None:
    """Return the C++ function that encodes with spans, without `spaces` at the ends of tokens.

    The function returns None for a text that it cannot encode. Returns None if there is none.
    """
    return tokenizer._pipeline.span_call(treatment, spaces)


class AlignedPiece(NamedTuple):
    """A piece of a text as the model gets it: an added token, or the text between two of them."""

    text: str
    """The text of the piece, normalized."""
    starts: Offsets
    """The start of each code point of `text` in the whole text."""
    ends: Offsets
    """The end of each code point of `text` in the whole text."""
    encoded: Spans | None
    """The ids of text, and the span of each id in bytes; None for an added token."""


class Pieces:
    """Divides the texts of one tokenizer into pieces."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._pipeline = tokenizer._pipeline_of_segments()
        self._backend = self._pipeline.backend
        self._no_added = make_added((), self._backend)

    @lazy
    def _normalizer(self) -> TextNormalizer | None:
        normalizer = self._tokenizer.normalizer
        return make_normalizer(normalizer, self._backend, self._pipeline.is_native)

    def of(self, text: str, treatment: Treatment) -> Iterator[AlignedPiece]:
        """Yield the pieces of a text."""
        data = text.encode()
        if self._normalizer is None or self._normalizer.keeps(data):
            at = np.arange(len(text) + 1)
            yield from self._cut(text, at[:-1], at[1:], self._pipeline.segments(data, treatment))
            return
        chars = byte_offsets(text)
        for segment in self._pipeline.normalized_segments(data, treatment, self._normalizer):
            normal, spans = segment.aligned()
            if not normal:
                continue
            starts, ends = spans.T + np.searchsorted(chars, segment.start)
            if segment.id is not None:
                yield AlignedPiece(normal, starts, ends, None)
            else:
                segments = segment.added.segments(normal.encode())[0]
                yield from self._cut(normal, starts, ends, segments)

    def _cut(
        self, text: str, starts: Offsets, ends: Offsets, segments: list[tuple[int, int, int | None]]
    ) -> Iterator[AlignedPiece]:
        """Yield the pieces of `text`; each segment is (start, end, id), in bytes of its UTF-8."""
        bounds = [(0, len(text))]
        if len(segments) > 1:
            chars = byte_offsets(text)
            bounds = [np.searchsorted(chars, segment[:2]).tolist() for segment in segments]
        for (first, last), (_, _, id) in zip(bounds, segments, strict=False):
            part = text[first:last]
            encoded = None
            if id is None:
                encoded = self._backend.spans_of_normalized(part.encode(), self._no_added)
            yield AlignedPiece(part, starts[first:last], ends[first:last], encoded)
