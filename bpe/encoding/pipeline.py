"""Define Pipeline, the steps of one call of a Tokenizer.

A call checks the text, finds its added tokens, normalizes the text if necessary, and encodes it in
the backend. If the text is a str, the call then converts byte offsets to code points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from bpe.encoding.added_tokens import AddedTokenSearch
from bpe.encoding.arguments import resolve_threads, validate_text
from bpe.encoding.backend import Backend
from bpe.encoding.joins import insert_rows, join_arrays, join_ids, join_spans, sum_counts
from bpe.encoding.normalized_segments import (
    NormalizedSegment,
    Result,
    WholeTexts,
    Work,
    normalized_segments,
)
from bpe.encoding.offsets import ByteToCharOffsets
from bpe.encoding.packed import PackedTexts
from bpe.encoding.policies import Policies
from bpe.encoding.python_backend import PythonBackend
from bpe.encoding.token_list import AddedTokenList
from bpe.encoding.utf8 import StrOrBytes, encode_utf8, is_utf8
from bpe.errors import SpecialTokenError, UnknownTokenError
from bpe.merge import missing_byte_error
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.normalizers.text_normalizer import TextNormalizer, make_normalizer
from bpe.normalizers.unicode_forms import UnicodeForm
from bpe.once import forget, once
from bpe.types import Errors, Ids, NormalizesText, Offsets, Spans, Special, Text
from bpe.vocabulary import UNASSIGNED

Call: TypeAlias = Callable[[Text, Special, Errors, "int | None"], Result]
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
        adds_space: bool,
        make_plain: Callable[[], Backend] | None = None,
    ) -> None:
        """Store the parts.

        `is_native` says whether C++ may normalize, `adds_space` whether the backend puts a space
        before texts. If the backend applies `normalizer`, `make_plain` returns a backend that does
        not.
        """
        self.backend = backend
        self.is_native = is_native
        self._adds_space = adds_space
        self._make_plain = make_plain
        normalize = normalizer.normalize if isinstance(normalizer, NormalizerChain) else None
        self._policies = Policies(added_tokens, backend, normalize)
        self._normalizer = make_normalizer(normalizer, backend, is_native)
        self._whole: dict[str, WholeTexts] = {}  # by the argument `special`, if it is a str
        self._missing_bytes = missing_bytes
        # The UTF-8 of a str may contain the bytes in UNASSIGNED, since a str may contain unassigned
        # code points. No UTF-8 contains the other missing bytes, so a str needs no check for them.
        self._missing_in_str = [byte for byte in missing_bytes if byte in UNASSIGNED]
        # On the fast path, the backend encodes a text without a check in Python.
        self._has_fast_path = normalizer is None or make_plain is not None
        self._has_spans = normalizer is None or normalizer == NFC
        # In C++, some normalizers take only valid UTF-8.
        self._takes_any_bytes = self._has_spans or _is_unicode_form(normalizer)
        # The arguments only_str and only_ascii of Backend.all_take_fast_path.
        only_str = bool(missing_bytes) or not self._takes_any_bytes
        self._fast_path_limits = only_str, bool(self._missing_in_str)

    @once
    def _plain_backend(self) -> Backend:
        """A backend that does not normalize text."""
        return self.backend if self._make_plain is None else self._make_plain()

    def trim(self) -> None:
        """Free the caches; later calls build them again."""
        self._policies.trim()
        forget(self, "_plain_backend")
        self.backend.trim()

    def calls(self) -> Calls:
        """Return `encode`, `encode_array` and `count`, or faster replacements from the backend."""
        slow_calls: Calls = self.encode, self.encode_array, self.count
        if not self._has_fast_path:
            return slow_calls
        added_for = self._policies.added_for
        return self.backend.fast_calls(added_for, slow_calls, *self._fast_path_limits)

    def encode(
        self, text: Text, special: Special, errors: Errors, threads: int | None = None
    ) -> list[int]:
        """Return the ids of `text`."""
        return self._run(text, special, errors, threads, _encode, join_ids)

    def encode_array(
        self, text: Text, special: Special, errors: Errors, threads: int | None = None
    ) -> Ids:
        """Return the ids of `text` as an array."""
        return self._run(text, special, errors, threads, _encode_array, join_arrays)

    def count(
        self, text: Text, special: Special, errors: Errors, threads: int | None = None
    ) -> int:
        """Return the number of ids of `text`."""
        return self._run(text, special, errors, threads, _count, sum_counts)

    def spans(self, text: Text, special: Special, errors: Errors, threads: int | None) -> Spans:
        """Return the ids and the half-open span of each id.

        Spans count code points if `text` is a str, else bytes.
        """
        ids, starts, ends = self._run(text, special, errors, threads, self._spans, join_spans)
        if isinstance(text, str):
            offsets = ByteToCharOffsets(text, errors)
            starts, ends = offsets.starts(starts), offsets.ends(ends)
        return ids, starts, np.maximum(starts, ends)

    def _spans(
        self, backend: Backend, data: StrOrBytes, added: AddedTokenSearch, threads: int
    ) -> Spans:
        ids, starts, ends = backend.spans(data, added, threads)
        if self._adds_space:
            # The added space is not in the text, so the span of a token of this space alone is
            # empty. As in Hugging Face's tokenizers, it gets the first character after the space.
            ends = np.where(starts == ends, ends + 1, ends)
        return ids, starts, ends

    def encode_batch(
        self, texts: list[Text], special: Special, errors: Errors, threads: int | None
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        batch, to_normalize = self._check_batch(texts, errors)
        # The backend encodes the texts that need no normalizing, and then the normalized texts that
        # are one segment. `_encode_each` encodes the other texts, and raises the error of the first
        # text that has an error.
        normal, search = self._normalize_batch(batch, to_normalize, special)
        rows: list[list[int]] = []
        refusal = None
        try:
            rows = self.backend.encode_batch(
                batch, self._policies.added_for(special), resolve_threads(threads)
            )
        except SpecialTokenError as error:
            refusal = self._located(error, texts[error.text_index or 0], errors)
        normalized: dict[int, list[int]] = {}
        try:
            if normal:
                more = self.backend.encode_batch(
                    list(normal.values()), search, resolve_threads(threads)
                )
                normalized = dict(zip(normal, more, strict=True))
        except SpecialTokenError:  # `_encode_each` finds the position in the original text
            pass
        to_encode = [index for index in to_normalize if index not in normalized]
        encode = self.calls()[0] if to_encode else self.encode
        normalized |= self._encode_each(encode, texts, to_encode, special, errors, refusal)
        for index, ids in normalized.items():
            rows[index] = ids
        return rows

    def encode_batch_array(
        self, texts: list[Text], special: Special, errors: Errors, threads: int | None
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all n texts, and n + 1 offsets, as Backend.encode_batch_array does."""
        batch, to_normalize = self._check_batch(texts, errors)
        normal, search = self._normalize_batch(batch, to_normalize, special)
        ids, offsets = np.zeros(0, np.uint32), np.zeros(1, np.int64)
        refusal = None
        try:
            ids, offsets = self.backend.encode_batch_array(
                batch, self._policies.added_for(special), resolve_threads(threads)
            )
        except SpecialTokenError as error:
            refusal = self._located(error, texts[error.text_index or 0], errors)
        normalized: dict[int, Ids] = {}
        try:
            if normal:
                more, bounds = self.backend.encode_batch_array(
                    list(normal.values()), search, resolve_threads(threads)
                )
                if len(normal) == len(texts):
                    return more, bounds
                parts = (more[start:end] for start, end in pairwise(bounds.tolist()))
                normalized = dict(zip(normal, parts, strict=True))
        except SpecialTokenError:  # `_encode_each` finds the position in the original text
            pass
        to_encode = [index for index in to_normalize if index not in normalized]
        encode = self.calls()[1] if to_encode else self.encode_array
        normalized |= self._encode_each(encode, texts, to_encode, special, errors, refusal)
        return insert_rows(ids, offsets, dict(sorted(normalized.items())))

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
        return normalized_segments(data, special, self._policies, normalizer, threads=1)

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
        if not self._has_fast_path or self._missing_bytes:
            return False
        return self._takes_any_bytes or is_utf8(texts.all_bytes())

    def safe_cut(self, data: bytes, special: Special, in_parts: bool) -> int:
        """Return a byte offset at which a cut of `data` does not change the ids, or 0.

        The cut is safe for any text that may follow `data`. The result is the last such offset that
        the backend finds. With a normalizer other than NFC, or the Python backend, it is always 0.
        If `in_parts`, both sides of the cut will be encoded by `encode_part`, else each as a text.
        """
        if not self._has_spans:
            return 0
        later = in_parts and self._has_later_parts
        return self.backend.safe_cut(data, self._policies.added_for(special), later)

    def encode_part(self, data: bytes, special: Special, is_first: bool) -> Ids:
        """Return the ids of a part of a text, cut by `safe_cut` with `in_parts`."""
        if is_first or not self._has_later_parts:
            return self.encode_array(data, special, "replace", 1)
        data = encode_utf8(self._check_bytes(validate_text(data, "replace")))
        return self.backend.encode_later(data, self._policies.added_for(special))

    @property
    def _has_later_parts(self) -> bool:
        """True if `encode_later` of the backend must encode the parts after the first one."""
        return self._normalizer is None and not isinstance(self.backend, PythonBackend)

    def _encode_each(
        self,
        encode: Call[Result],
        texts: list[Text],
        indices: Iterable[int],
        special: Special,
        errors: Errors,
        refusal: SpecialTokenError | None,
    ) -> dict[int, Result]:
        """Return the result of `encode` for each text at `indices`, by index.

        `refusal` is the error of the texts that need no normalizing, or None. If several texts have
        errors, raises the error of the first text.
        """
        results = {}
        for index in indices:
            if refusal is not None and index > (refusal.text_index or 0):
                break
            try:
                results[index] = encode(texts[index], special, errors, None)
            except SpecialTokenError as error:
                raise SpecialTokenError(error.token, error.position, index) from None
        if refusal is not None:
            raise refusal
        return results

    def _run(
        self,
        text: Text,
        special: Special,
        errors: Errors,
        threads: int | None,
        call: Callable[[Backend, StrOrBytes, AddedTokenSearch, int], Result],
        join: Callable[[Iterable[NormalizedSegment], Work[Result]], Result],
    ) -> Result:
        """Return the result of `call` for `text`, with the backend as its first argument.

        If Python has to normalize `text`, run `call` on each segment, and `join` the results.
        """
        workers = 0 if threads is None else resolve_threads(threads)
        try:
            data = self._check_bytes(validate_text(text, errors))
            normalizer = self._normalizer_for(data, needs_spans=join is join_spans)
            if normalizer is None:
                return call(self.backend, data, self._policies.added_for(special), workers)
            work = partial(call, self._plain_backend)
            utf8 = encode_utf8(data)
            if join is not join_spans:
                whole = self._whole_texts(special, normalizer)
                normal = whole.normalized(utf8)
                if normal is not None:
                    try:
                        return work(normal, whole.search, workers)
                    except SpecialTokenError:  # the segments have the position in `text`
                        pass
            return join(
                normalized_segments(utf8, special, self._policies, normalizer, workers), work
            )
        except SpecialTokenError as error:
            raise self._located(error, text, errors) from None

    def _normalizer_for(self, data: StrOrBytes, needs_spans: bool = False) -> TextNormalizer | None:
        """Return the normalizer if Python has to apply it to a text, else None."""
        normalizer = self._normalizer
        if normalizer is None or normalizer.keeps(data):
            return None
        if needs_spans or not self._has_fast_path:
            return normalizer
        is_taken = isinstance(data, str) or self._takes_any_bytes or is_utf8(data)
        return None if is_taken else normalizer

    def _check_batch(self, texts: list[Text], errors: Errors) -> tuple[list[StrOrBytes], list[int]]:
        """Return the texts, and the indices of texts to normalize.

        The exception for a text that cannot be encoded names its index.
        """
        if (
            errors == "replace"
            and self._has_fast_path
            and self.backend.all_take_fast_path(texts, *self._fast_path_limits)
        ):
            return texts, []  # type: ignore[return-value]  # all_take_fast_path checks their types
        batch = []
        for index, text in enumerate(texts):
            try:
                batch.append(self._check_bytes(validate_text(text, errors)))
            except (TypeError, UnknownTokenError) as error:
                raise type(error)(f"texts[{index}]: {error}") from None
            except UnicodeEncodeError as error:
                error.reason += f" (texts[{index}])"
                raise
        to_normalize = []
        if self._normalizer is not None:
            needs = self._normalizer_for
            to_normalize = [index for index, data in enumerate(batch) if needs(data) is not None]
        return batch, to_normalize

    def _normalize_batch(
        self, batch: list[StrOrBytes], to_normalize: Iterable[int], special: Special
    ) -> tuple[dict[int, bytes], AddedTokenSearch]:
        """Empty the texts of `batch` that are to be normalized.

        Return the normalized texts that are one segment, by index, and the search for their added
        tokens.
        """
        texts = None
        if self._normalizer is not None and not self._has_fast_path:
            texts = self._whole_texts(special, self._normalizer)
        normal: dict[int, bytes] = {}
        for index in to_normalize:
            whole = None if texts is None else texts.normalized(encode_utf8(batch[index]))
            batch[index] = b""
            if whole is not None:
                normal[index] = whole
        return normal, self._policies.added_for(special) if texts is None else texts.search

    def _whole_texts(self, special: Special, normalizer: TextNormalizer) -> WholeTexts:
        if not isinstance(special, str):
            return WholeTexts(special, self._policies, normalizer)
        texts = self._whole.get(special)
        if texts is None:
            texts = self._whole[special] = WholeTexts(special, self._policies, normalizer)
        return texts

    def _check_bytes(self, data: StrOrBytes) -> StrOrBytes:
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
        position = error.position
        if isinstance(text, str):
            position = int(ByteToCharOffsets(text, errors).starts(np.array([position]))[0])
        token = self._policies.content_of(error.token)
        return SpecialTokenError(token, position, error.text_index)


def _is_unicode_form(normalizer: NormalizesText | None) -> bool:
    return isinstance(normalizer, NormalizerChain) and all(
        isinstance(step, UnicodeForm) for step in (*normalizer.steps, normalizer.metaspace)
    )


def _encode(backend: Backend, data: StrOrBytes, added: AddedTokenSearch, threads: int) -> list[int]:
    return backend.encode(data, added, threads)


def _encode_array(backend: Backend, data: StrOrBytes, added: AddedTokenSearch, threads: int) -> Ids:
    return backend.encode_array(data, added, threads)


def _count(backend: Backend, data: StrOrBytes, added: AddedTokenSearch, threads: int) -> int:
    return backend.count(data, added, threads)
