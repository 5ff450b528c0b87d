"""Define Engine, which encodes and decodes with bpe as one tokenizers.Tokenizer would."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache, cached_property, partial
from typing import Any

from bpe import Tokenizer
from bpe.compat.huggingface.align import Aligner
from bpe.compat.huggingface.decoding import Decoding
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.errors import CallFallbackError
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.post_processor import PostProcessor
from bpe.compat.huggingface.rows import Row, Span
from bpe.compat.huggingface.spans import FastSpans, TextAlignment, WordsAlignment
from bpe.compat.huggingface.windows import (
    MAX_LENGTH,
    Fixed,
    Padding,
    Slice,
    Truncation,
    Window,
    truncate,
)
from bpe.encoding.utf8 import has_surrogates
from bpe.errors import UnknownTokenError
from bpe.types import Ids, Offsets, Template, Treatment

_NO_TOKEN = "a text with a byte that no token has"


class Engine:
    """Encodes and decodes with bpe as one tokenizers.Tokenizer does.

    An Engine is immutable, and safe to share between threads. Truncation, padding and the use of
    special tokens are not part of it; they are arguments of its methods.

    A row has the ids of one sequence, a text or a list of words. The template of the post-processor
    puts special tokens around one or two sequences. The template is simple if its form for one
    sequence has the sequence exactly once.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        parts: Parts,
        decoding: Decoding,
        words: Collection[str] = (),
    ) -> None:
        """`parts` are those of `tokenizer`.

        `words` are the special tokens that the model makes of a pre-token with their text. bpe does
        not do so if special tokens are treated as text.
        """
        self._tokenizer = tokenizer
        self.parts = parts
        """The parts besides the added tokens."""
        self._processor = parts.processor
        self._aligner = Aligner(tokenizer, parts)
        self._spans = FastSpans(tokenizer, parts)
        self._encode = tokenizer.encode
        self._encode_batch = tokenizer.encode_batch
        self.decoding = decoding
        self._before, self._after, self.is_simple = _sides(parts.processor)
        self._added = len(self._before) + len(self._after)
        self._words = words
        self.quick_parts = self._quick_parts()
        """The parts that C++ needs to answer the call of `quick`; None if it must not.

        They are the function that encodes, the ids before and after one sequence, whether all type
        ids are 0, whether special tokens may be ordinary text, and `FastSpans.quick_calls`.
        """

    @cached_property
    def is_kept_by_copies(self) -> bool:
        """True if a copy of the tokenizer surely has an equal engine."""
        return self.parts.keep_ids(self._tokenizer.added_tokens)

    def _quick_parts(self) -> tuple[Any, list[int], list[int], bool, bool, Any] | None:
        if not self.is_simple:
            return None
        zero_types = not self.has_types(True)
        takes_text = not self._words
        span_calls = self._spans.quick_calls
        return self._encode, self._before, self._after, zero_types, takes_text, span_calls

    def quick(
        self, text: str, treatment: Treatment, add_special_tokens: bool = True
    ) -> list[int] | None:
        """Return the ids of a text; None if the real tokenizer must answer.

        Requires `is_simple`.
        """
        try:
            if self._words or not text.isascii():
                self._check([text], treatment)
            ids = self._encode(text, treatment)
        except (UnknownTokenError, CallFallbackError):
            return None
        if add_special_tokens and self._added:
            return [*self._before, *ids, *self._after]
        return ids

    def quick_spans(
        self, text: str, treatment: Treatment, add_special_tokens: bool
    ) -> tuple[list[int], list[Span]] | None:
        """Return the ids of a text and their spans; None if C++ cannot handle the text.

        Requires `is_simple`.
        """
        if self._words and treatment == "text":
            return None
        encoded = self._spans.encode(text, treatment)
        if encoded is not None and add_special_tokens and self._added:
            ids, spans = encoded
            if self._before:
                ids[:0] = self._before
                spans[:0] = [(0, 0)] * len(self._before)
            if self._after:
                ids += self._after
                spans += [(0, 0)] * len(self._after)
        return encoded

    def batch(
        self, texts: list[str], treatment: Treatment, add_special_tokens: bool, wants_spans: bool
    ) -> tuple[list[list[int]], list[list[Span]] | None] | None:
        """Return the ids of each text, and their spans if `wants_spans`.

        Returns None if the template is not simple, or if C++ cannot give the spans of a text.
        """
        if not self.is_simple:
            return None
        if wants_spans:
            encoded = []
            for text in texts:
                row = self.quick_spans(text, treatment, add_special_tokens)
                if row is None:
                    return None
                encoded.append(row)
            return [ids for ids, _ in encoded], [spans for _, spans in encoded]
        self._check(texts, treatment)
        rows = self._ids(texts, treatment)
        if add_special_tokens and self._added:
            for ids in rows:
                ids[:0] = self._before
                ids += self._after
        return rows, None

    def _check(self, texts: list[Any], treatment: Treatment) -> None:
        """Raise CallFallbackError if the real tokenizer must encode `texts`."""
        check_texts(texts)
        if self._words and treatment == "text":
            for text in texts:
                if any(word in text for word in self._words):
                    raise CallFallbackError(
                        "a special token that is ordinary text and a whole word"
                    )

    def type_ids(self, size: int, add_special_tokens: bool) -> list[int]:
        """Return the type ids of one sequence with `size` ids. Requires `is_simple`."""
        return self._processor.type_ids(size, add_special_tokens)

    def has_types(self, add_special_tokens: bool) -> bool:
        """Return whether one sequence has type ids other than 0. Requires `is_simple`."""
        size = 1 + (self._added if add_special_tokens else 0)
        return any(self.type_ids(size, add_special_tokens))

    def whole(self, text: str, treatment: Treatment, add_special_tokens: bool) -> Encoding:
        """Return the encoding of a text that is not truncated."""
        return self.encoding((self.row(text, treatment),), add_special_tokens, None)

    def row(self, text: str, treatment: Treatment) -> Row:
        """Return the row of a text."""
        self._check([text], treatment)
        try:
            ids = self._encode(text, treatment)
        except UnknownTokenError:
            raise CallFallbackError(_NO_TOKEN) from None
        return self._row(ids, text, treatment)

    def _row(self, ids: list[int], text: str, treatment: Treatment) -> Row:
        align = partial(self._aligner.text, text, treatment)
        return Row(ids, align, TextAlignment(self._spans, text, treatment))

    def rows(self, texts: list[str], treatment: Treatment) -> list[Row]:
        """Return the row of each text."""
        self._check(texts, treatment)
        return [
            self._row(ids, text, treatment)
            for text, ids in zip(texts, self._ids(texts, treatment), strict=True)
        ]

    def _ids(self, texts: list[str], treatment: Treatment) -> list[list[int]]:
        try:
            return self._encode_batch(texts, treatment)
        except UnknownTokenError:
            raise CallFallbackError(_NO_TOKEN) from None

    def words_row(self, words: Sequence[str], treatment: Treatment) -> Row:
        """Return the row of a pre-tokenized sequence."""
        texts = list(words)
        self._check(texts, treatment)
        rows = self._ids(texts, treatment)
        fast = WordsAlignment(self._spans, texts, treatment, list(map(len, rows)))
        ids = [id for row in rows for id in row]
        return Row(ids, partial(self._aligner.words, texts, treatment), fast)

    def encoding(
        self, rows: tuple[Row, ...], add_special_tokens: bool, truncation: Truncation | None
    ) -> Encoding:
        """Return the encoding of one row or a pair, truncated and with its template."""
        build = partial(self._window, rows, add_special_tokens, truncation)
        if len(rows) > 1 or not self.is_simple:
            window = build()
            return Encoding(window.ids(), lambda: window)
        ids = rows[0].ids
        if truncation is not None:
            ids = _truncated(ids, truncation, self._added if add_special_tokens else 0)
        if add_special_tokens and self._added:
            ids = [*self._before, *ids, *self._after]
        return Encoding(ids, build, 1)

    def arrays(self, texts: list[str], treatment: Treatment) -> tuple[Ids, Offsets] | None:
        """Return what Tokenizer.encode_batch_array of bpe returns.

        Returns None if the template is not simple.
        """
        if not self.is_simple:
            return None
        self._check(texts, treatment)
        try:
            return self._tokenizer.encode_batch_array(texts, treatment)
        except UnknownTokenError:
            raise CallFallbackError(_NO_TOKEN) from None

    @property
    def template(self) -> Template:
        """The ids before and after one sequence."""
        return Template(tuple(self._before), tuple(self._after))

    @property
    def is_native(self) -> bool:
        """True if C++ may pad and truncate the ids of a batch."""
        return self._tokenizer._pipeline.is_native

    def _window(
        self, rows: tuple[Row, ...], add_special_tokens: bool, truncation: Truncation | None
    ) -> Window:
        if truncation is None and len(rows) == 1 and self.is_simple:
            return self._processor.around(rows[0], add_special_tokens)
        windows = [
            Window((Slice(row, 0, len(row.ids), index),) if row.ids else ())
            for index, row in enumerate(rows)
        ]
        if truncation is not None:
            added = self._processor.added(len(rows) == 2) if add_special_tokens else 0
            windows = truncate(windows, truncation, added)
        return self._processor.process(windows, add_special_tokens)


def pad(encodings: list[Encoding], padding: Padding) -> None:
    """Pad `encodings` in place, as one batch."""
    if encodings:
        length = padding.target(max(map(len, encodings)))
        for encoding in encodings:
            encoding.pad_to(length, padding)


@cache
def _have_surrogates() -> Callable[[list[str]], bool]:
    """Return a function that says whether any of its texts has a surrogate."""
    try:
        from pretok import _core
    except ImportError:
        return lambda texts: any(not text.isascii() and has_surrogates(text) for text in texts)
    return _core.have_surrogates


def check_texts(texts: list[Any]) -> None:
    """Raise CallFallbackError unless each text is a str without lone surrogates."""
    for text in texts:
        if not isinstance(text, str):
            raise CallFallbackError("an input that is not a str")
    if _have_surrogates()(texts):
        raise CallFallbackError("a text with lone surrogates")


def _truncated(ids: list[int], truncation: Truncation, added: int) -> list[int]:
    """Return the ids of one sequence after truncation, so that `added` more ids fit.

    If `added` is more than the maximal length, nothing is truncated: as in tokenizers, the
    negative difference wraps around to a large number.
    """
    max_length = (truncation.max_length - added) & MAX_LENGTH
    if max_length >= len(ids):
        return ids
    if max_length == 0:
        return []
    if truncation.stride >= max_length:
        raise CallFallbackError("a stride that is not less than the maximal length")
    if truncation.strategy == "only_second":
        raise CallFallbackError("a sequence that is too short to truncate")
    return ids[:max_length] if truncation.direction == "right" else ids[-max_length:]


def _sides(processor: PostProcessor) -> tuple[list[int], list[int], bool]:
    """Return the ids before and after one sequence, and whether the template is simple.

    A simple template has the sequence exactly once.
    """
    sides: list[list[int]] = [[]]
    for part in processor.single:
        if isinstance(part, Fixed):
            sides[-1] += part.ids
        else:
            sides.append([])
    return (sides[0], sides[1], True) if len(sides) == 2 else ([], [], False)
