"""Encoding a text that has to be normalized first: part by part, and back to where it came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np

from bpe.encoding.added_tokens import AddedTokens
from bpe.encoding.normalize import alignment
from bpe.encoding.offsets import Places
from bpe.encoding.python_backend import ESCAPE, Backend, Data, Ids, Offsets, as_text
from bpe.errors import SpecialTokenError

Result = TypeVar("Result")
Work: TypeAlias = Callable[[Data, AddedTokens], Result]
Spans: TypeAlias = tuple[Ids, Offsets, Offsets]


class NormalPart:
    """An added token that is found in text as it is, or text between such, which is normalized."""

    def __init__(
        self, data: bytes, start: int, id: int | None, encoder: Backend, added: AddedTokens
    ) -> None:
        """Take the part that begins at `start` of a text; `id` is that of an added token."""
        self._data = data
        self._start = start
        self._id = id
        self._encoder = encoder
        self._added = added

    def encoded(self, encode: Work[Result], of_id: Callable[[int], Result]) -> Result:
        """Return what `encode` makes of the part in NFC, or `of_id` of an added token's id."""
        if self._id is not None:
            return of_id(self._id)
        try:
            return encode(self._encoder.normalized(self._data), self._added)
        except SpecialTokenError as error:
            raise self._located(error) from None

    def spans(self, spans: Work[Spans]) -> Spans:
        """Return the ids, and the start and end of each in bytes of the whole text."""
        if self._id is not None:
            return (
                np.array([self._id], np.uint32),
                np.array([self._start], np.int64),
                np.array([self._start + len(self._data)], np.int64),
            )
        try:
            normal, origins, _ = self._aligned()
            ids, starts, ends = spans(normal.encode("utf-8", ESCAPE), self._added)
        except SpecialTokenError as error:
            raise self._located(error) from None
        places = Places(normal, ESCAPE)
        # A token has at least one byte, so there is a code point at its start and before its end;
        # but for a space that was put before the text.
        first = np.minimum(places.starts(starts), len(normal) - 1)
        last = np.maximum(places.ends(ends) - 1, 0)
        starts = self._start + self._bytes_before(origins[first, 0])
        ends = self._start + self._bytes_before(origins[last, 1])
        return ids, starts, np.maximum(starts, ends)

    def _located(self, error: SpecialTokenError) -> SpecialTokenError:
        """Return `error` with the offset in bytes of the whole text, as it was given."""
        _, origins, widths = self._aligned()
        place = np.searchsorted(widths, error.position, side="right") - 1
        at = self._start + int(self._bytes_before(origins[place : place + 1, 0])[0])
        return SpecialTokenError(error.token, at)

    def _aligned(self) -> tuple[str, Offsets, Offsets]:
        """Return the normal text, the span of each of its code points, and where its bytes are."""
        normal, spans = alignment(as_text(self._data))
        return normal, np.array(spans, np.int64).reshape(-1, 2), Places.bytes_of(normal)

    def _bytes_before(self, chars: Offsets) -> Offsets:
        """Return the offsets in bytes of those in code points of the part."""
        return Places.bytes_of(as_text(self._data))[chars]
