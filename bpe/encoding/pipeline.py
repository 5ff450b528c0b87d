"""Define Pipeline, the steps of one call of a Tokenizer.

A call checks the text, finds its added tokens, normalizes the text if necessary, and encodes it in
the backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from bpe.encoding.arguments import resolve_threads, validate_text
from bpe.encoding.backends import make_ranged
from bpe.encoding.normalized_segments import (
    NormalizedSegment,
    Result,
    Work,
    join_arrays,
    join_ids,
    join_spans,
    normalized_segments,
    sum_counts,
)
from bpe.encoding.offsets import UnitOffsets
from bpe.encoding.packed import PackedTexts
from bpe.encoding.policies import Phase, Policies
from bpe.encoding.python_backend import Backend, PythonBackend, concatenate_ids
from bpe.encoding.ranged_tokens import AddedTokenSearch
from bpe.encoding.token_list import AddedTokenList
from bpe.encoding.utf8 import StrOrBytes, encode_utf8
from bpe.errors import SpecialTokenError, UnknownTokenError, named_error
from bpe.merge import missing_byte_error
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.normalizers.text_normalizer import TextNormalizer, make_normalizer
from bpe.types import Errors, Ids, NormalizesText, Offsets, Spans, Special, Text
from bpe.vocabulary import UNASSIGNED
from pretok.machine.backend import native_core

if TYPE_CHECKING:
    from pretok import _core
    from pretok._core import Chunks

Call: TypeAlias = Callable[[Text, Special, Errors, "int | None", bool], Result]
Calls: TypeAlias = tuple[Call[list[int]], Call[Ids], Call[int]]
SpanCall: TypeAlias = Callable[[str], "tuple[list[int], list[tuple[int, int]]] | None"]
TokenSpaces: TypeAlias = tuple[bytes, bytes, bool]
"""(leading, trailing, keeps_first): the spaces of tokens.

By id, `leading` and `trailing` have the number of spaces at the start and at the end of a token.
The number is 255 if it depends on the text; a SpanCall returns None for a text with this token. If
`keeps_first`, the span of a token at the start of the text includes a single leading space.
"""


class Pipeline:
    """Encodes text for Tokenizer, with a backend; Tokenizer explains the arguments."""

    def __init__(
        self,
        backend: Backend,
        added_tokens: AddedTokenList,
        normalizer: NormalizesText | None,
        missing_bytes: Sequence[int],
        is_native: bool,
        normalizes: bool = False,
    ) -> None:
        """Store the parts.

        `is_native` says whether C++ may normalize, and `normalizes` whether the backend applies
        `normalizer`.
        """
        self.backend = backend
        self.is_native = is_native
        normalize = normalizer.normalize if isinstance(normalizer, NormalizerChain) else None
        self._policies = Policies(added_tokens, backend, normalize)
        self._normalizer = make_normalizer(normalizer, backend, is_native)
        self._missing_bytes = missing_bytes
        # The UTF-8 of a str may contain the bytes in UNASSIGNED, since a str may contain unassigned
        # code points. No UTF-8 contains the other missing bytes, so a str needs no check for them.
        self._missing_in_str = [byte for byte in missing_bytes if byte in UNASSIGNED]
        # On the fast path, the backend encodes a text without work in Python.
        self._has_fast_path = normalizer is None or normalizes
        self._has_spans = normalizer is None or normalizer == NFC
        # The arguments only_str and only_ascii of PythonBackend.all_take_fast_path.
        self._fast_path_limits = bool(missing_bytes), bool(self._missing_in_str)

    @property
    def is_all_native(self) -> bool:
        """True if C++ does all work of a call."""
        return self._has_fast_path and not isinstance(self.backend, PythonBackend)

    def trim(self) -> None:
        """Free the caches; later calls build them again."""
        self._policies.trim()
        self.backend.trim()

    def calls(self) -> Calls:
        """Return `encode`, `encode_array` and `count`, or faster replacements from the backend."""
        slow_calls: Calls = self.encode, self.encode_array, self.count
        if not self._has_fast_path:
            return slow_calls
        added_for = self._policies.added_for
        return self.backend.fast_calls(added_for, slow_calls, *self._fast_path_limits)

    def encode(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        threads: int | None = None,
        continuation: bool = False,
    ) -> list[int]:
        """Return the ids of `text`."""
        return self._run(
            text, special, errors, threads, continuation, self.backend.encode, join_ids
        )

    def encode_array(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        threads: int | None = None,
        continuation: bool = False,
    ) -> Ids:
        """Return the ids of `text` as an array."""
        return self._run(
            text, special, errors, threads, continuation, self.backend.encode_array, join_arrays
        )

    def count(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        threads: int | None = None,
        continuation: bool = False,
    ) -> int:
        """Return the number of ids of `text`."""
        return self._run(
            text, special, errors, threads, continuation, self.backend.count, sum_counts
        )

    def spans(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        threads: int | None,
        continuation: bool = False,
    ) -> Spans:
        """Return the ids and the half-open span of each id, in bytes of UTF-8."""
        ids, starts, ends = self._run(
            text, special, errors, threads, continuation, self.backend.spans, join_spans
        )
        return ids, starts, np.maximum(starts, ends)

    def encode_segments(
        self, segments: list[Any], special: Special, errors: Errors
    ) -> tuple[Ids, _core.TokenPlaces] | None:
        """Return the ids of segments as one text; None if Python has to check a text."""
        if errors != "replace" or not self._has_fast_path or self._missing_bytes:
            return None
        return self.backend.encode_segments(segments, self._policies.by_name, special)

    def spans_in_ranges(
        self,
        data: bytes,
        ranges: Sequence[tuple[int, Special, Sequence[int]]],
        continuation: bool = False,
    ) -> Spans:
        """Return the ids and the spans of a text, in bytes, with a policy for each range of it.

        A range is (end, special, ids), as TextRange in ranged_tokens.py. Errors have the offsets of
        bytes. `continuation` says whether the text continues another one.
        """
        self.check_bytes(data)
        rows = [(end, self._policies.added_for(special), ids) for end, special, ids in ranges]
        search = make_ranged(rows, self.backend)
        normalizer = self._normalizer
        if normalizer is None or self._has_fast_path or normalizer.keeps(data):
            return self.backend.spans(data, search, 1, continuation)
        phases: dict[Phase, Callable[[], AddedTokenSearch]] = {
            "exact": search.exact, "normalized": search.normalized,
        }  # fmt: skip
        segments = normalized_segments(
            data, lambda phase: phases[phase](), normalizer, 1, continuation
        )
        return join_spans(segments, self.backend.spans)

    def new_prompt_cache(self, max_bytes: int) -> _core.PromptCache | None:
        """Return a cache for `encode_prompt`; None if Python has to prepare or encode texts."""
        core = self.core if self._has_fast_path else None
        return None if core is None else core.PromptCache(self.backend, max_bytes)

    def encode_prompt(
        self,
        cache: _core.PromptCache,
        text: Text,
        special: Special,
        errors: Errors,
        continuation: bool,
        salt: bytes,
        before: Sequence[int],
        after: Sequence[int],
    ) -> tuple[Ids, int, int]:
        """Return the result of `cache` for a text; bpe.PromptCache explains the arguments."""
        try:
            data = self.check_bytes(validate_text(text, errors))
            added = self._policies.added_for(special)
            policy = self._policies.key_of(special)
            everything = self._policies.added_for("allow")
            return cache.encode(data, added, everything, policy, salt, continuation, before, after)
        except SpecialTokenError as error:
            raise self._located(error, text, errors) from None

    def encode_prompt_segments(
        self,
        cache: _core.PromptCache,
        segments: list[Any],
        special: Special,
        errors: Errors,
        joined: bool,
        salt: bytes,
    ) -> tuple[Ids, Offsets, int, int] | None:
        """Return the result of `cache` for segments; None if Python has to check a text."""
        if errors != "replace" or self._missing_bytes:
            return None
        searches, everything = self._policies.by_name, self._policies.added_for("allow")
        return cache.encode_segments(segments, searches, everything, special, joined, salt)

    def prompt_key(self, text: Text, special: Special, errors: Errors) -> tuple[StrOrBytes, bytes]:
        """Return a text as it is encoded, and bytes that only an equal policy has.

        Raises the errors of `encode_array`, but for SpecialTokenError.
        """
        data = self.check_bytes(validate_text(text, errors))
        self._policies.added_for(special)
        return data, self._policies.key_of(special)

    def encode_batch(
        self, texts: list[Text], special: Special, errors: Errors, threads: int | None
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        batch = self.check_batch(texts, errors)
        if not self._has_fast_path:
            return self._encode_each(texts, special, errors)
        try:
            return self.backend.encode_batch(
                batch, self._policies.added_for(special), resolve_threads(threads)
            )
        except SpecialTokenError as error:
            raise self._located(error, texts[error.text_index or 0], errors) from None

    def encode_batch_array(
        self, texts: list[Text], special: Special, errors: Errors, threads: int | None
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all n texts, and n + 1 offsets: text i starts at offset i."""
        batch = self.check_batch(texts, errors)
        if not self._has_fast_path:
            return concatenate_ids(self._encode_each(texts, special, errors))
        try:
            return self.backend.encode_batch_array(
                batch, self._policies.added_for(special), resolve_threads(threads)
            )
        except SpecialTokenError as error:
            raise self._located(error, texts[error.text_index or 0], errors) from None

    def encode_some(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        continuation: bool,
        dropout: float,
        seed: int,
    ) -> Ids:
        """Return the ids of `text` with dropout; needs the fast path, and a backend for dropout."""
        backend = cast("_core.Tokenizer", self.backend)

        def work(data: StrOrBytes, added: Any, threads: int, continuation: bool) -> Ids:
            return backend.encode_some(data, added, dropout, seed, continuation)

        return self._run(text, special, errors, 1, continuation, work, join_arrays)

    def encode_batch_some(
        self,
        texts: list[Text],
        special: Special,
        errors: Errors,
        threads: int | None,
        dropout: float,
        seed: int,
    ) -> tuple[Ids, Offsets]:
        """Do the same as `encode_batch_array` with dropout."""
        backend = cast("_core.Tokenizer", self.backend)
        batch = self.check_batch(texts, errors)
        workers = resolve_threads(threads)
        try:
            added = cast("_core.AddedTokens", self._policies.added_for(special))
            return backend.encode_batch_some(batch, added, dropout, seed, workers)
        except SpecialTokenError as error:
            raise self._located(error, texts[error.text_index or 0], errors) from None

    @property
    def core(self) -> Any:
        """The module pretok._core, or None if the backend is Python."""
        return None if isinstance(self.backend, PythonBackend) else native_core()

    def chunks(self, special: Special, *arguments: Any) -> Chunks:
        """Return a search for chunks in C++; the backend must not be Python."""
        added = self._policies.added_for(special)
        chunks: Chunks = self.core.Chunks(self.backend, added, *arguments)
        return chunks

    def span_call(self, special: Special, spaces: TokenSpaces | None) -> SpanCall | None:
        """Return a function that returns the ids of a text and their spans as tuples.

        Spans count code points. The function returns None for a text that it cannot encode; the
        caller then calls `spans`. `span_call` itself returns None if the backend has no such
        function. If `spaces` is not None, spans exclude these spaces (see TokenSpaces).
        """
        make = getattr(self.backend, "span_call", None)
        if make is None or not self._has_spans:
            return None
        call: SpanCall = make(self._policies.added_for(special), self._fast_path_limits[1], spaces)
        return call

    def segments(self, data: bytes, special: Special) -> list[tuple[int, int, int | None]]:
        """Return the start, the end and the id of each segment of a text.

        A segment is an added token, or the text between two of them, whose id is None.
        """
        return self._policies.added_for(special).segments(data)[0]

    def normalized_segments(
        self, data: bytes, special: Special, normalizer: TextNormalizer
    ) -> Iterator[NormalizedSegment]:
        """Yield the segments of a text that `normalizer` changes."""
        added_for = partial(self._policies.added_for, special)
        return normalized_segments(data, added_for, normalizer, threads=1)

    def encode_packed(
        self, texts: PackedTexts, special: Special, threads: int | None
    ) -> tuple[Ids, Offsets]:
        """Do the same as `encode_batch_array` for the texts in a buffer."""
        if not self._takes_packed(texts):
            return self.encode_batch_array(list(texts), special, "replace", threads)
        try:
            return self.backend.encode_packed(
                texts.data, texts.offsets, self._policies.added_for(special),
                resolve_threads(threads),
            )  # fmt: skip
        except SpecialTokenError as error:
            raise self._located(error, b"", "replace") from None

    def _takes_packed(self, texts: PackedTexts) -> bool:
        """Return whether the backend encodes the texts in a buffer without prior work in Python."""
        return self._has_fast_path and not self._missing_bytes

    def policy(self, special: Special) -> AddedTokenSearch:
        """Return the added tokens to search; raise the errors of Policies.added_for."""
        return self._policies.added_for(special)

    def content_of(self, searched: str) -> str:
        """Return the content of the added token that is searched as `searched`."""
        return self._policies.content_of(searched)

    def native_session(self, continuation: bool) -> Any | None:
        """Return an empty KeptText in C++; None if Python has to normalize or to encode."""
        if not self._has_fast_path:
            return None
        return self.backend.session(self._policies.added_for("allow"), continuation)

    def safe_cut(self, data: bytes, special: Special) -> int | None:
        """Return a byte offset at which a cut of `data` does not change the ids, or 0.

        The cut is safe for any text that may follow `data`, if `encode_part` encodes both sides.
        The result is the last such offset that C++ finds. Returns None if Python has to normalize
        or to encode.
        """
        if not self._has_spans or isinstance(self.backend, PythonBackend):
            return None
        return self.backend.safe_cut(data, self._policies.added_for(special))

    def encode_part(
        self, data: bytes, special: Special, is_first: bool, continuation: bool = False
    ) -> Ids:
        """Return the ids of a part of a text, cut by `safe_cut`.

        `continuation` says whether the whole text continues another one.
        """
        return self.encode_array(data, special, "replace", 1, continuation or not is_first)

    def _encode_each(self, texts: list[Text], special: Special, errors: Errors) -> list[list[int]]:
        """Return the ids of each text; a SpecialTokenError has the index of its text."""
        rows = []
        for index, text in enumerate(texts):
            try:
                rows.append(self.encode(text, special, errors))
            except SpecialTokenError as error:
                raise SpecialTokenError(error.token, error.position, index) from None
        return rows

    def _run(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        threads: int | None,
        continuation: bool,
        work: Work[Result],
        join: Callable[[Iterable[NormalizedSegment], Work[Result]], Result],
    ) -> Result:
        """Return the result of `work` for `text`.

        If Python has to normalize `text`, run `work` on each segment, and `join` the results.
        """
        workers = 0 if threads is None else resolve_threads(threads)
        try:
            data = self.check_bytes(validate_text(text, errors))
            normalizer = self._normalizer
            if normalizer is None or self._has_fast_path or normalizer.keeps(data):
                return work(data, self._policies.added_for(special), workers, continuation)
            added_for = partial(self._policies.added_for, special)
            segments = normalized_segments(
                encode_utf8(data), added_for, normalizer, workers, continuation
            )
            return join(segments, work)
        except SpecialTokenError as error:
            raise self._located(error, text, errors) from None

    def check_batch(self, texts: list[Text], errors: Errors) -> list[StrOrBytes]:
        """Return the texts as the backend takes them.

        The exception for a text that cannot be encoded names its index.
        """
        if (
            errors == "replace"
            and self._has_fast_path
            and self.backend.all_take_fast_path(texts, *self._fast_path_limits)
        ):
            return texts  # type: ignore[return-value]  # all_take_fast_path checks their types
        batch = []
        for index, text in enumerate(texts):
            try:
                batch.append(self.check_bytes(validate_text(text, errors)))
            except (TypeError, UnknownTokenError, UnicodeEncodeError) as error:
                raise named_error(error, f"texts[{index}]") from None
        return batch

    def check_bytes(self, data: StrOrBytes) -> StrOrBytes:
        """Return `data`; raise UnknownTokenError if it has a byte that no token has."""
        missing: Sequence[int] = self._missing_bytes
        if isinstance(data, str):
            missing = () if data.isascii() else self._missing_in_str
        utf8 = encode_utf8(data) if missing else b""
        for byte in missing:
            if byte in utf8:
                raise missing_byte_error(byte)
        return data

    def _located(self, error: SpecialTokenError, text: Text, errors: Errors) -> SpecialTokenError:
        """Return `error` with its byte offset converted to code points if `text` is a str."""
        position = int(UnitOffsets(text, errors).starts(np.array([error.position]))[0])
        token = self._policies.content_of(error.token)
        return SpecialTokenError(token, position, error.text_index)
