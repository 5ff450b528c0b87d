"""Define BpeEngine, which encodes and decodes with bpe as one tokenizers.Tokenizer would."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any, TypeVar

from bpe import PromptCache, Tokenizer
from bpe.compat.huggingface import internals, settings
from bpe.compat.huggingface.align import Aligner, Span
from bpe.compat.huggingface.decoding import Decoding
from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.post_processor import Place
from bpe.compat.huggingface.prompt_caching import Encode, caching
from bpe.compat.huggingface.rows import BareRow, Row, TextRow
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.windows import (
    COMPUTES_OVERFLOW,
    Part,
    Truncation,
    Window,
    first_type,
    truncate,
)
from bpe.encoding.utf8 import has_surrogates
from bpe.errors import UnknownTokenError
from bpe.once import lazy
from bpe.types import Ids, Offsets, Template, Treatment
from pretok.machine.backend import native_core

T = TypeVar("T")
R = TypeVar("R")


def are_str(texts: Collection[Any]) -> bool:
    """Return whether each of `texts` is a str."""
    # One pass in C is fast; subclasses of str are rare.
    return {*map(type, texts)} <= {str} or all(isinstance(text, str) for text in texts)


class BpeEngine:
    """Encodes and decodes with bpe as one tokenizers.Tokenizer does.

    A BpeEngine is immutable, and safe to share between threads. Truncation, padding and the use of
    special tokens are not part of it; they are arguments of its methods.

    A row has the ids of one sequence, a text or a list of words. The template of the post-processor
    puts special tokens around one or two sequences. The template is simple if its form for one
    sequence has the sequence exactly once. A window has the parts of rows that are left after
    truncation, and the special tokens around them.
    """

    def __init__(
        self, tokenizer: Tokenizer, parts: Parts, decoding: Decoding, words: Collection[str] = ()
    ) -> None:
        """`parts` are the parts of `tokenizer`.

        `words` are special tokens. If special tokens are treated as text, the real tokenizer still
        encodes a pre-token that equals one of them as its id (`ignore_merges`). bpe does not.
        """
        self._tokenizer = tokenizer
        self.parts = parts
        """The parts besides the added tokens."""
        self._processor = parts.processor
        self._aligner = Aligner(tokenizer, parts)
        self.decoding = decoding
        places = [part for part in parts.processor.single if isinstance(part, Place)]
        self.is_simple = len(places) == 1
        self.template = Template()
        """The ids before and after one sequence, if the template is simple."""
        self.types = Template()
        """The type ids of `template`."""
        self.type = 0
        """The type id of the sequence."""
        if self.is_simple:
            before, place, after = parts.processor.single_parts
            sides = before, after
            self.template = Template(
                *(tuple(id for part in side for id in part.values("ids")) for side in sides)
            )
            self.types = Template(
                *(tuple(part.type_id for part in side for _ in range(part.size)) for side in sides)
            )
            self.type = place.type_id or 0
        self.is_native = internals.is_native(tokenizer)
        """True if C++ may pad and truncate the ids of a batch."""
        self._words = words
        self._cached = 0.0, caching(tokenizer, 0.0)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of bpe."""
        return self._tokenizer

    @lazy
    def is_kept_by_copies(self) -> bool:
        """True if a copy of the tokenizer surely has an equal engine."""
        return self.parts.keep_ids(self._tokenizer.added_tokens)

    @property
    def encode(self) -> Encode:
        """The function that returns the ids of a text, as the setting `prompt_cache_mb` says."""
        return self._caching[1]

    @property
    def prompt_cache(self) -> PromptCache | None:
        """The cache of the setting `prompt_cache_mb`; None if it is 0."""
        return self._caching[0]

    @property
    def _caching(self) -> tuple[PromptCache | None, Encode]:
        megabytes = settings.prompt_cache_mb
        if self._cached[0] != megabytes:
            self._cached = megabytes, caching(self._tokenizer, megabytes)
        return self._cached[1]

    @property
    def native_parts(self) -> tuple[Any, list[int], list[int], bool, bool, Any] | None:
        """The parts that C++ needs to answer calls with one text; None if it must not.

        They are the function that encodes, the ids before and after one sequence, whether all type
        ids are 0, whether special tokens may be ordinary text, and `Aligner.calls_used`.
        """
        if not self.is_simple:
            return None
        before, after = map(list, self.template)
        zero_types = not any((*self.types.before, self.type, *self.types.after))
        takes_text = not self._words
        calls = self._aligner.calls_used
        return self.encode, before, after, zero_types, takes_text, calls

    def _check(self, texts: list[Any], treatment: Treatment) -> None:
        """Raise CallFallbackError if the real tokenizer must encode `texts`."""
        if not are_str(texts):
            raise CallFallbackError("an input that is not a str")
        if have_surrogates()(texts):
            raise CallFallbackError("a text with lone surrogates")
        if self._words and treatment == "text":
            for text in texts:
                if any(word in text for word in self._words):
                    raise CallFallbackError("a special token as ordinary text, with ignore_merges")

    def _encoded(
        self,
        encode: Callable[[T, Treatment], R],
        texts: list[Any],
        argument: T,
        treatment: Treatment,
    ) -> R:
        """Return encode(argument, treatment), where `argument` has the `texts`."""
        self._check(texts, treatment)
        try:
            return encode(argument, treatment)
        except UnknownTokenError:
            raise CallFallbackError("a text with a byte that no token has") from None

    def row(self, text: str, treatment: Treatment) -> TextRow:
        """Return the row of a text."""
        ids = self._encoded(self.encode, [text], text, treatment)
        return TextRow([text], [ids], self._aligner, treatment)

    def rows(self, texts: list[str], treatment: Treatment) -> list[TextRow]:
        """Return the row of each text."""
        return [
            TextRow([text], [ids], self._aligner, treatment)
            for text, ids in zip(texts, self.ids(texts, treatment), strict=True)
        ]

    def ids(self, texts: list[str], treatment: Treatment) -> list[list[int]]:
        """Return the ids of each text."""
        if len(texts) == 1:
            return [self._encoded(self.encode, texts, texts[0], treatment)]
        return self._encoded(self._tokenizer.encode_batch, texts, texts, treatment)

    def ids_and_spans(
        self, texts: list[str], treatment: Treatment
    ) -> tuple[list[list[int]], list[list[Span]]] | None:
        """Return the ids of each text, and their spans; None if C++ cannot handle a text."""
        self._check(texts, treatment)
        ids, spans = [], []
        for text in texts:
            encoded = self._aligner.encode(text, treatment)
            if encoded is None:
                return None
            ids.append(encoded[0])
            spans.append(encoded[1])
        return ids, spans

    def arrays(self, texts: list[str], treatment: Treatment) -> tuple[Ids, Offsets]:
        """Return the ids of all texts as one array, and the index where each text's ids begin."""
        return self._encoded(self._tokenizer.encode_batch_array, texts, texts, treatment)

    def words_row(self, words: Sequence[str], treatment: Treatment) -> TextRow:
        """Return the row of a pre-tokenized sequence."""
        texts = list(words)
        ids = self.ids(texts, treatment)
        return TextRow(texts, ids, self._aligner, treatment, is_words=True)

    def encoding(self, rows: tuple[Row, ...], add_special_tokens: bool) -> Encoding:
        """Return the encoding of one row or a pair, not truncated, with its template."""
        encoding = Encoding(self.window, rows, add_special_tokens, None)
        if len(rows) == 1 and self.is_simple:
            before, after = self.template if add_special_tokens else ((), ())
            encoding._ids = [*before, *rows[0].ids, *after]
        return encoding

    def text_encoding(
        self,
        text: str,
        treatment: Treatment,
        add_special_tokens: bool,
        limit: int | None = None,
        is_bare: bool = False,
    ) -> Encoding | None:
        """Return the encoding of one text; None if it may be longer than `limit`, or is unusual.

        If `is_bare`, it has only ids, as in `encode_batch_fast` of tokenizers.
        """
        if not self.is_simple or (self._words and treatment == "text"):
            return None
        if not text.isascii() and have_surrogates()([text]):
            return None
        try:
            ids = self.encode(text, treatment)
        except UnknownTokenError:
            return None
        window = self._bare_window if is_bare else self._encoded_window
        encoding = Encoding(window, text, ids, treatment, add_special_tokens)
        if not is_bare:
            encoding._engine = self
        before, after = self.template
        if add_special_tokens and (before or after):
            encoding._ids = [*before, *ids, *after]
        else:
            encoding._ids = ids
        if limit is not None and (not ids or len(encoding._ids) > limit or not COMPUTES_OVERFLOW):
            return None
        return encoding

    def pair_encoding(
        self,
        text: str,
        pair: str,
        treatment: Treatment,
        add_special_tokens: bool,
        limit: int | None = None,
        is_bare: bool = False,
    ) -> Encoding | None:
        """Return the encoding of a pair of texts; None in the cases of `text_encoding`."""
        if self._words and treatment == "text":
            return None
        texts = text, pair
        if not (text.isascii() and pair.isascii()) and have_surrogates()([*texts]):
            return None
        encode = self.encode
        try:
            ids = encode(text, treatment), encode(pair, treatment)
        except UnknownTokenError:
            return None
        encoding = Encoding(self._pair_window, texts, ids, treatment, add_special_tokens, is_bare)
        encoding._ids = joined = self._processor.joined_ids(ids, add_special_tokens)
        if limit is not None and (not all(ids) or len(joined) > limit or not COMPUTES_OVERFLOW):
            return None
        return encoding

    def _pair_window(
        self,
        texts: tuple[str, str],
        ids: tuple[list[int], list[int]],
        treatment: Treatment,
        add_special_tokens: bool,
        is_bare: bool,
    ) -> Window:
        """Return the window of a pair of texts with these ids; see `text_window`."""
        first, second = (
            TextRow([text], [ids], self._aligner, treatment)
            for text, ids in zip(texts, ids, strict=True)
        )
        rows = (BareRow(first), BareRow(second)) if is_bare else (first, second)
        return self._processor.joined(rows, add_special_tokens)

    def text_tokens(
        self, text: str, ids: list[int], treatment: Treatment, add_special_tokens: bool
    ) -> list[str] | None:
        """Return the tokens of `text_window`; None if their texts depend on `text`."""
        tokens = self._aligner.tokens(ids)
        if (
            tokens is None
            or not add_special_tokens
            or not (self.template.before or self.template.after)
        ):
            return tokens
        before, after = self._template_tokens
        return [*before, *tokens, *after]

    @lazy
    def _template_tokens(self) -> list[list[str]]:
        before, _, after = self._processor.single_parts
        return [
            [token for part in side for token in part.values("tokens")] for side in (before, after)
        ]

    def text_spans(
        self, text: str, ids: list[int], treatment: Treatment, add_special_tokens: bool
    ) -> list[Span] | None:
        """Return the spans of `text_window`; None if C++ cannot handle `text`."""
        encoded = self._aligner.encode(text, treatment)
        if encoded is None:
            return None
        before, after = self.template
        if not add_special_tokens or not (before or after):
            return encoded[1]
        return [*[(0, 0)] * len(before), *encoded[1], *[(0, 0)] * len(after)]

    def _encoded_window(
        self, text: str, ids: list[int], treatment: Treatment, add_special_tokens: bool
    ) -> Window:
        """Return the window of a text with these ids; see `text_window`."""
        row = TextRow([text], [ids], self._aligner, treatment)
        return self._processor.around(row, add_special_tokens)

    def _bare_window(
        self, text: str, ids: list[int], treatment: Treatment, add_special_tokens: bool
    ) -> Window:
        row = BareRow(TextRow([text], [ids], self._aligner, treatment))
        return self._processor.around(row, add_special_tokens)

    def text_window(self, text: str, treatment: Treatment, add_special_tokens: bool) -> Window:
        """Return the window of a text that is not truncated; see `window`."""
        return self.window((self.row(text, treatment),), add_special_tokens, None)

    def window(
        self, rows: tuple[Row, ...], add_special_tokens: bool, truncation: Truncation | None
    ) -> Window:
        """Return the window of one row or a pair, truncated and with its template."""
        processor = self._processor
        if truncation is not None:
            added = processor.added(len(rows) == 2) if add_special_tokens else 0
            size = sum(len(row.ids) for row in rows)
            if added < truncation.max_length and size + added <= truncation.max_length:
                truncation = None
        if truncation is None and len(rows) == 1 and self.is_simple:
            return processor.around(rows[0], add_special_tokens)
        if truncation is None and len(rows) == 2:
            return processor.joined((rows[0], rows[1]), add_special_tokens)
        windows = [
            Window((Part(row, 0, len(row.ids), first_type(row, index)),))
            for index, row in enumerate(rows)
        ]
        if truncation is not None:
            windows = truncate(windows, truncation, added)
        return processor.process(windows, add_special_tokens)


@cache
def have_surrogates() -> Callable[[list[str]], bool]:
    """Return a function that says whether any of its texts has a surrogate."""
    core = native_core()
    if core is None:
        return lambda texts: any(not text.isascii() and has_surrogates(text) for text in texts)
    return core.have_surrogates  # type: ignore[no-any-return]
