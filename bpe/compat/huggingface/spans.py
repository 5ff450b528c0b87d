"""Define FastSpans, which encodes a text with the span of each id in C++, and rows that use it."""

from __future__ import annotations

from functools import cached_property

from bpe import Tokenizer
from bpe.compat.huggingface import internals
from bpe.compat.huggingface.align import Aligner
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.rows import Row, Span, trim_spans
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
        self._tokenizer = tokenizer
        self._parts = parts
        self._contents = {token.id: token.content for token in tokenizer.added_tokens}
        self._stripping = [
            token.id for token in tokenizer.added_tokens if token.lstrip or token.rstrip
        ]
        self._varying = frozenset(
            token.id for token in tokenizer.added_tokens if _varies(token, tokenizer.normalizer)
        )
        self._trims = parts.processor.trims
        self.adds_space = parts.processor.adds_space  # `rows.trim` explains it
        self._calls: dict[tuple[Treatment, bool], SpanCall | None] = {}
        self.calls_used: dict[Treatment, SpanCall | None] = {}
        """The functions that `encode` has used so far, by treatment."""
        self._counts: TokenSpaces | None = None

    def encode(self, text: str, treatment: Treatment) -> tuple[list[int], list[Span]] | None:
        """Return the ids of a text, and their spans as the post-processor leaves them.

        Returns None if C++ cannot handle the text.
        """
        call = self.calls_used[treatment] = self.call(treatment, self._trims)
        return None if call is None else call(text)

    def call(self, treatment: Treatment, is_trimmed: bool) -> SpanCall | None:
        """Return the C++ function that encodes with spans; None if C++ cannot encode this way."""
        key = treatment, is_trimmed
        try:
            return self._calls[key]
        except KeyError:
            spaces = self._spaces() if is_trimmed else None
            call = self._calls[key] = internals.span_call(self._tokenizer, treatment, spaces)
            return call

    def spans(self, text: str, treatment: Treatment, is_trimmed: bool) -> list[Span] | None:
        """Return the spans of a text; None if C++ cannot handle it."""
        call = self.call(treatment, is_trimmed)
        encoded = None if call is None else call(text)
        return None if encoded is None else encoded[1]

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
        return bytes(counts[0]), bytes(counts[1]), self.adds_space


def _varies(token: AddedToken, normalizer: NormalizesText | None) -> bool:
    """Return whether an added token may match other text than its content."""
    if token.lstrip or token.rstrip:
        return True
    if not token.normalized or normalizer is None:
        return False
    return normalizer != NFC or not is_normal(token.content)


class TextRow(Row):
    """The ids of one text. C++ computes its spans, and an Aligner what C++ cannot compute."""

    def __init__(
        self, ids: list[int], source: FastSpans, aligner: Aligner, text: str, treatment: Treatment
    ) -> None:
        super().__init__(ids, lambda: aligner.text(text, treatment))
        self._source = source
        self._text = text
        self._treatment = treatment

    @cached_property
    def tokens(self) -> list[str]:
        """The token of each id."""
        tokens = self._source.tokens(self.ids)
        return self.alignment.tokens if tokens is None else tokens

    @cached_property
    def spans(self) -> list[Span]:
        """The span of each id."""
        spans = self._fast_spans(False)
        return self.alignment.spans if spans is None else spans

    def trimmed(self, start: int, stop: int, adds_space: bool) -> list[Span]:
        """Return `spans[start:stop]` without white space at both ends of tokens; see `trim`."""
        trimmed = self._trimmed
        if trimmed is None:
            return super().trimmed(start, stop, adds_space)
        spans = trimmed[start:stop]
        # C++ has trimmed the token `start` as one within the text. If it is the first token of a
        # window, a single leading space stays.
        if adds_space and 0 < start < stop:
            spans[0] = self._source.trim_first(self.ids[start], self.spans[start])
        return spans

    @cached_property
    def _trimmed(self) -> list[Span] | None:
        return self._fast_spans(True)

    def _fast_spans(self, is_trimmed: bool) -> list[Span] | None:
        """Return the spans, without white space at both ends of tokens if `is_trimmed`.

        Returns None if C++ cannot handle the text.
        """
        return self._source.spans(self._text, self._treatment, is_trimmed)


class WordsRow(TextRow):
    """The ids of a list of words; spans count from the start of their word."""

    def __init__(
        self,
        rows: list[list[int]],
        source: FastSpans,
        aligner: Aligner,
        texts: list[str],
        treatment: Treatment,
    ) -> None:
        """`rows` has the ids of each word."""
        super().__init__([id for row in rows for id in row], source, aligner, "", treatment)
        self._align = lambda: aligner.words(texts, treatment)
        self._texts = texts
        self._sizes = list(map(len, rows))

    def _fast_spans(self, is_trimmed: bool) -> list[Span] | None:
        # Only the first token of all words keeps its space. C++ would keep that of each word whose
        # first token starts later, as after a character without a token.
        if is_trimmed and self._source.adds_space:
            return None
        spans: list[Span] = []
        for text in self._texts:
            more = self._source.spans(text, self._treatment, is_trimmed)
            if more is None:
                return None
            spans += more
        return spans

    @cached_property
    def words(self) -> list[int]:
        """The number of the word of each id."""
        return [word for word, size in enumerate(self._sizes) for _ in range(size)]
