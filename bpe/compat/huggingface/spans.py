"""Define FastSpans, which encodes a text with the span of each id in C++."""

from __future__ import annotations

from bpe import Tokenizer
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.rows import Span, trim_spans
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.pipeline import SpanCall, TokenSpaces
from bpe.encoding.trim import count_spaces
from bpe.normalizers.chain import NFC
from bpe.normalizers.unicode_forms import is_normal
from bpe.types import NormalizesText, Treatment

_UNKNOWN = 255
"""The number of spaces of a token if it depends on the text, or does not fit into a byte."""
_UNKNOWNS = _UNKNOWN, _UNKNOWN


class FastSpans:
    """Encodes texts with spans, which include or exclude white space at both ends of tokens."""

    def __init__(self, tokenizer: Tokenizer, parts: Parts) -> None:
        self._pipeline = tokenizer._pipeline
        self._parts = parts
        self._contents = {token.id: token.content for token in tokenizer.added_tokens}
        self._stripping = [
            token.id for token in tokenizer.added_tokens if token.lstrip or token.rstrip
        ]
        self._varying = frozenset(
            token.id for token in tokenizer.added_tokens if _varies(token, tokenizer.normalizer)
        )
        self._trims = parts.processor.trims
        self._adds_space = parts.processor.adds_space  # `rows.trim` explains it
        self._calls: dict[tuple[Treatment, bool], SpanCall | None] = {}
        self.quick_calls: dict[Treatment, SpanCall | None] = {}
        """The functions that `encode` has used so far, by treatment."""
        self._counts: TokenSpaces | None = None

    def encode(self, text: str, treatment: Treatment) -> tuple[list[int], list[Span]] | None:
        """Return the ids of a text, and their spans as the post-processor leaves them.

        Returns None if C++ cannot handle the text.
        """
        call = self.quick_calls[treatment] = self.call(treatment, self._trims)
        return None if call is None else call(text)

    def call(self, treatment: Treatment, is_trimmed: bool) -> SpanCall | None:
        """Return the C++ function that encodes with spans; None if C++ cannot encode this way."""
        key = treatment, is_trimmed
        try:
            return self._calls[key]
        except KeyError:
            spaces = self._spaces() if is_trimmed else None
            call = self._calls[key] = self._pipeline.span_call(treatment, spaces)
            return call

    def tokens(self, ids: list[int]) -> list[str] | None:
        """Return the tokens of `ids`; None if one is an added token whose text varies."""
        if not self._varying.isdisjoint(ids):
            return None
        names, contents = self._parts.names, self._contents
        return [names[id] if id in names else contents[id] for id in ids]

    def trim_first(self, id: int, span: Span) -> Span:
        """Return the `span` of the first token of a window without white space at its ends."""
        leading, trailing, adds_space = self._spaces()
        [trimmed] = trim_spans([span], [(leading[id], trailing[id])], adds_space)
        return trimmed

    def _spaces(self) -> TokenSpaces:
        if self._counts is None:
            self._counts = self._count()
        return self._counts

    def _count(self) -> TokenSpaces:
        """Count the spaces of all tokens; _UNKNOWN for added tokens with `lstrip` or `rstrip`."""
        texts = {**self._parts.names, **self._contents}
        size = max(texts, default=-1) + 1
        counts = bytearray(size), bytearray(size)
        for id, text in texts.items():
            spaces = count_spaces(text)
            counts[0][id], counts[1][id] = spaces if max(spaces) < _UNKNOWN else _UNKNOWNS
        for id in self._stripping:
            counts[0][id], counts[1][id] = _UNKNOWNS
        return bytes(counts[0]), bytes(counts[1]), self._adds_space


def _varies(token: AddedToken, normalizer: NormalizesText | None) -> bool:
    """Return whether an added token may match other text than its content."""
    if token.lstrip or token.rstrip:
        return True
    if not token.normalized or normalizer is None:
        return False
    return normalizer != NFC or not is_normal(token.content)


class TextAlignment:
    """The spans and tokens of one text."""

    def __init__(self, source: FastSpans, text: str, treatment: Treatment) -> None:
        self._source = source
        self._text = text
        self._treatment = treatment

    def spans(self, is_trimmed: bool) -> list[Span] | None:
        """Return the spans, which exclude white space at both ends of tokens if `is_trimmed`.

        Returns None if C++ cannot handle the text.
        """
        call = self._source.call(self._treatment, is_trimmed)
        encoded = None if call is None else call(self._text)
        return None if encoded is None else encoded[1]

    def tokens(self, ids: list[int]) -> list[str] | None:
        """Return the tokens of `ids`; None if one is an added token whose text varies."""
        return self._source.tokens(ids)

    def words(self) -> list[int] | None:
        """Return None: `Aligner` computes the words, with the pre-tokenizer."""
        return None

    def trim_first(self, id: int, span: Span) -> Span:
        """Return the `span` of the first token of a window without white space at its ends."""
        return self._source.trim_first(id, span)


class WordsAlignment(TextAlignment):
    """The spans, tokens and words of a list of words; spans count from the start of their word."""

    def __init__(
        self, source: FastSpans, texts: list[str], treatment: Treatment, sizes: list[int]
    ) -> None:
        """`sizes` has the number of ids of each word."""
        super().__init__(source, "", treatment)
        self._texts = texts
        self._sizes = sizes

    def spans(self, is_trimmed: bool) -> list[Span] | None:
        """Return the spans, which exclude white space at both ends of tokens if `is_trimmed`.

        Returns None if C++ cannot handle a word.
        """
        # Only the first token of all words keeps its space. C++ would keep that of each word whose
        # first token starts later, as after a character without a token.
        if is_trimmed and self._source._adds_space:
            return None
        spans: list[Span] = []
        for text in self._texts:
            more = TextAlignment(self._source, text, self._treatment).spans(is_trimmed)
            if more is None:
                return None
            spans += more
        return spans

    def words(self) -> list[int]:
        """Return the number of the word of each id."""
        return [word for word, size in enumerate(self._sizes) for _ in range(size)]
