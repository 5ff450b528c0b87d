"""Define FastSpans, which encodes a text with the span of each id in C++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bpe import Tokenizer
from bpe.compat.huggingface.rows import Span, count_spaces, trim_span
from bpe.encoding.pipeline import SpanCall, TokenSpaces
from bpe.types import Treatment

_UNKNOWN = 255
_UNKNOWNS = _UNKNOWN, _UNKNOWN


class FastSpans:
    """Encodes texts with spans, with or without the spaces of tokens."""

    def __init__(
        self, tokenizer: Tokenizer, names: Mapping[int, str], trims: bool, adds_space: bool
    ) -> None:
        """Take the tokens of the model by id as `names`; `rows.trim` explains `adds_space`."""
        self._pipeline = tokenizer._pipeline
        self._tokens = tokenizer.added_tokens
        self._names = names
        self._added = frozenset(token.id for token in self._tokens)
        self._trims = trims
        self._adds_space = adds_space
        self._calls: dict[tuple[Treatment, bool], SpanCall | None] = {}
        self._counts: TokenSpaces | None = None

    def encode(self, text: str, treatment: Treatment) -> tuple[list[int], list[Span]] | None:
        """Return the ids of a text, and their spans as the post-processor leaves them.

        Returns None if C++ does not take the text.
        """
        call = self.call(treatment, self._trims)
        return None if call is None else call(text)

    def of(self, text: str, treatment: Treatment) -> TextAlignment:
        """Return the spans and tokens of a text."""
        return TextAlignment(self, text, treatment)

    def call(self, treatment: Treatment, is_trimmed: bool) -> SpanCall | None:
        """Return the function of C++, if there is one."""
        key = treatment, is_trimmed
        try:
            return self._calls[key]
        except KeyError:
            spaces = self._spaces() if is_trimmed else None
            call = self._calls[key] = self._pipeline.span_call(treatment, spaces)
            return call

    def tokens(self, ids: list[int]) -> list[str] | None:
        """Return the tokens of `ids`; None if one is an added token, whose text varies."""
        return list(map(self._names.__getitem__, ids)) if self._added.isdisjoint(ids) else None

    def trim_first(self, id: int, span: Span) -> Span:
        """Return the span of the first token of a window, without spaces."""
        leading, trailing, adds_space = self._spaces()
        return trim_span(span, (leading[id], trailing[id]), adds_space)

    def _spaces(self) -> TokenSpaces:
        if self._counts is None:
            self._counts = self._count()
        return self._counts

    def _count(self) -> TokenSpaces:
        texts = {**self._names, **{token.id: token.content for token in self._tokens}}
        size = max(texts, default=-1) + 1
        counts = bytearray(size), bytearray(size)
        for id, text in texts.items():
            spaces = count_spaces(text)
            if spaces is not None:
                counts[0][id], counts[1][id] = spaces if max(spaces) < _UNKNOWN else _UNKNOWNS
        for token in self._tokens:
            if token.lstrip or token.rstrip:
                counts[0][token.id], counts[1][token.id] = _UNKNOWNS
        return bytes(counts[0]), bytes(counts[1]), self._adds_space


class TextAlignment(NamedTuple):
    """The spans and tokens of one text."""

    source: FastSpans
    text: str
    treatment: Treatment

    def spans(self, is_trimmed: bool) -> list[Span] | None:
        """Return the spans, without spaces if `is_trimmed`; None if C++ does not take the text."""
        call = self.source.call(self.treatment, is_trimmed)
        encoded = None if call is None else call(self.text)
        return None if encoded is None else encoded[1]

    def tokens(self, ids: list[int]) -> list[str] | None:
        """Return the tokens of `ids`; None if one is an added token, whose text varies."""
        return self.source.tokens(ids)

    def trim_first(self, id: int, span: Span) -> Span:
        """Return the span of the first token of a window, without spaces."""
        return self.source.trim_first(id, span)
