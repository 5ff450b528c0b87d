"""From the arguments of a call to the backend: surrogates, special tokens, normalizing, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from bpe.encoding.added_tokens import AddedToken, AddedTokens
from bpe.encoding.normalized_segments import NormalPart, Result, Spans, Work
from bpe.encoding.offsets import Places
from bpe.encoding.policies import Policies, Special
from bpe.encoding.python_backend import Backend, Data, Ids, Offsets, utf8
from bpe.errors import SpecialTokenError
from bpe.merge import no_token
from bpe.vocabulary import UNASSIGNED
from pretok.errors import shortened

Errors: TypeAlias = Literal["replace", "strict", "surrogateescape"]
Normalizer: TypeAlias = Literal["NFC"]
Call: TypeAlias = Callable[[Data, Special, Errors], Result]
Calls: TypeAlias = tuple[Call[list[int]], Call[Ids], Call[int]]

MOST_THREADS = 1 << 16


class Pipeline:
    """What Tokenizer does with a text before and after its backend; the terms are Tokenizer's."""

    def __init__(
        self,
        encoder: Backend,
        added_tokens: Sequence[AddedToken],
        normalizer: Normalizer | None,
        missing_bytes: Sequence[int],
    ) -> None:
        self.encoder = encoder
        self._policies = Policies(added_tokens, normalizer is not None, encoder)
        self._normalizer = normalizer
        self._missing_bytes = missing_bytes
        self._missing_in_str = [byte for byte in missing_bytes if byte in UNASSIGNED]

    def trim(self) -> None:
        """Drop what calls have left for the next ones."""
        self._policies.trim()
        trim = getattr(self.encoder, "trim", None)
        if trim is not None:
            trim()

    def calls(self) -> Calls:
        """Return what to call for the ids of a text, as list and as array, and for their number.

        That is `encode`, `encode_array` and `count`, or what is faster and comes back to them.
        """
        own = self.encode, self.encode_array, self.count
        fast_calls = getattr(self.encoder, "fast_calls", None)
        if fast_calls is None:
            return own
        found: Calls = fast_calls(self._policies.added_for, own, *self._only())
        return found

    def encode(
        self, text: Data, special: Special, errors: str, threads: int | None = None
    ) -> list[int]:
        """Return the ids of `text`."""
        encode: Work[list[int]] = self.encoder.encode
        if threads is not None:
            encode = _on(self.encoder.encode, threads)
        return self._run(text, special, errors, encode, _ids)

    def encode_array(
        self, text: Data, special: Special, errors: str, threads: int | None = None
    ) -> Ids:
        """Return the ids of `text` as an array."""
        encode: Work[Ids] = self.encoder.encode_array
        if threads is not None:
            encode = _on(self.encoder.encode_array, threads)
        return self._run(text, special, errors, encode, _array)

    def count(self, text: Data, special: Special, errors: str, threads: int | None = None) -> int:
        """Return how many ids `text` has."""
        count: Work[int] = self.encoder.count
        if threads is not None:
            count = _on(self.encoder.count, threads)
        return self._run(text, special, errors, count, _count)

    def spans(self, text: Data, special: Special, errors: str, threads: int | None = None) -> Spans:
        """Return the ids, and the start and end of each in what `text` counts."""
        spans: Work[Spans] = self.encoder.spans
        if threads is not None:
            spans = _on(self.encoder.spans, threads)
        ids, starts, ends = self._run(text, special, errors, spans, _joined)
        if isinstance(text, str):
            places = Places(text, errors)
            starts, ends = places.starts(starts), places.ends(ends)
        return ids, starts, np.maximum(starts, ends)

    def encode_batch(
        self, texts: list[Data], special: Special, errors: str, threads: int | None
    ) -> list[list[int]]:
        """Return the ids of each of `texts`."""
        data, odd = self._batch(texts, errors)
        refusal = None
        try:
            found = self.encoder.encode_batch(
                data, self._policies.added_for(special), _threads(threads)
            )
        except SpecialTokenError as error:
            refusal = self._located(error, texts[error.text_index or 0], errors)
        for index in odd:
            if refusal is not None and index > (refusal.text_index or 0):
                break
            try:
                ids = self.encode(texts[index], special, errors)
            except SpecialTokenError as error:
                raise SpecialTokenError(error.token, error.position, index) from None
            if refusal is None:
                found[index] = ids
        if refusal is not None:
            raise refusal
        return found

    def encode_batch_array(
        self, texts: list[Data], special: Special, errors: str, threads: int | None
    ) -> tuple[Ids, Offsets]:
        """Return the ids of all texts, and n + 1 offsets: where those of each start and end."""
        data, odd = self._batch(texts, errors)
        if odd:
            return flat(self.encode_batch(texts, special, errors, threads))
        try:
            return self.encoder.encode_batch_array(
                data, self._policies.added_for(special), _threads(threads)
            )
        except SpecialTokenError as error:
            raise self._located(error, texts[error.text_index or 0], errors) from None

    def _run(
        self,
        text: Data,
        special: Special,
        errors: str,
        whole: Work[Result],
        parted: Callable[[Iterable[NormalPart], Work[Result]], Result],
    ) -> Result:
        """Return what `whole` makes of the text, or `parted` if it is to be normalized first."""
        try:
            data = self._checked(encodable(text, errors))
            if self._needs_normalizing(data):
                return parted(self._normal_parts(data, special), whole)
            return whole(data, self._policies.added_for(special))
        except SpecialTokenError as error:
            raise self._located(error, text, errors) from None

    def _batch(self, texts: list[Data], errors: str) -> tuple[list[Data], list[int]]:
        """Return what the backend is to encode, and which texts are to be normalized first."""
        all_take_fast_path = getattr(self.encoder, "all_take_fast_path", None)
        if (
            all_take_fast_path is not None
            and errors == "replace"
            and all_take_fast_path(texts, *self._only())
        ):
            return texts, []
        data = [self._checked(encodable(text, errors)) for text in texts]
        odd = []
        if self._normalizer is not None:
            odd = [index for index, text in enumerate(data) if self._needs_normalizing(text)]
            for index in odd:
                data[index] = b""
        return data, odd

    def _only(self) -> tuple[bool, bool, bool]:
        """Return whether the backend may take only str, ASCII, and NFC, with nothing else done."""
        return bool(self._missing_bytes), bool(self._missing_in_str), self._normalizer is not None

    def _checked(self, data: Data) -> Data:
        missing: Sequence[int] = self._missing_bytes
        if isinstance(data, str):
            missing = () if data.isascii() else self._missing_in_str
        given = utf8(data) if missing else b""
        for byte in missing:
            if byte in given:
                raise no_token(byte)
        return data

    def _needs_normalizing(self, data: Data) -> bool:
        return self._normalizer is not None and not self.encoder.is_normal(data)

    def _normal_parts(self, data: Data, special: Special) -> Iterator[NormalPart]:
        """Yield the parts of a text that is to be normalized, each of which is by itself."""
        given = utf8(data)
        normalized = self._policies.added_for(special, "normalized")
        segments, refused = self._policies.added_for(special, "exact").segments(given)
        for start, end, id in segments:
            yield NormalPart(given[start:end], start, id, self.encoder, normalized)
        if refused is not None:
            raise SpecialTokenError(*refused)

    def _located(self, error: SpecialTokenError, text: Data, errors: str) -> SpecialTokenError:
        """Return `error` with the offset in what `text` counts."""
        at = error.position
        if isinstance(text, str):
            at = int(Places(text, errors).starts(np.array([at]))[0])
        return SpecialTokenError(error.token, at, error.text_index)


def encodable(text: object, errors: str) -> Data:
    """Return `text` as a backend takes it; raises TypeError, ValueError, UnicodeEncodeError."""
    if errors not in ("replace", "strict", "surrogateescape"):
        raise ValueError(
            f"errors={shortened(errors)}; expected 'replace', 'strict' or 'surrogateescape'"
        )
    if isinstance(text, str):
        return text if errors == "replace" or text.isascii() else text.encode("utf-8", errors)
    if isinstance(text, bytes):
        return text
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"expected str or bytes, got {type(text).__name__}")


def flat(rows: Sequence[Sequence[int]]) -> tuple[Ids, Offsets]:
    """Return the ids of all `rows`, and n + 1 offsets: where those of each start and end."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.fromiter((id for row in rows for id in row), np.uint32, int(offsets[-1])), offsets


def _ids(parts: Iterable[NormalPart], encode: Work[list[int]]) -> list[int]:
    return [id for part in parts for id in part.encoded(encode, lambda id: [id])]


def _array(parts: Iterable[NormalPart], encode: Work[Ids]) -> Ids:
    one = partial(np.array, ndmin=1, dtype=np.uint32)
    return np.concatenate([part.encoded(encode, one) for part in parts])


def _count(parts: Iterable[NormalPart], count: Work[int]) -> int:
    return sum(part.encoded(count, lambda id: 1) for part in parts)


def _joined(parts: Iterable[NormalPart], spans: Work[Spans]) -> Spans:
    ids, starts, ends = zip(*[part.spans(spans) for part in parts], strict=True)
    return np.concatenate(ids), np.concatenate(starts), np.concatenate(ends)


def _on(work: Callable[[Data, AddedTokens, int], Result], threads: int) -> Work[Result]:
    """Return `work` with the number of threads that was asked for."""
    asked = _threads(threads)
    return lambda text, added: work(text, added, asked)


def _threads(asked: int | None) -> int:
    """Return what backends call `asked`: 0 is as many as the work is worth."""
    if asked is None:
        return 0
    if not isinstance(asked, int) or asked < 1:
        raise ValueError(f"threads={asked!r}; expected None or an int of at least 1")
    return min(asked, MOST_THREADS)
