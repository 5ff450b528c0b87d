"""Encoding a text that has to be normalized first: part by part, and back to where it came from."""

from __future__ import annotations

import numpy as np

from bpe.encoder import Backend, Ids, Offsets
from bpe.errors import SpecialTokenError
from bpe.normalize import alignment, normalize
from bpe.places import Places
from bpe.special import AddedTokens, Segment

ESCAPE = "surrogateescape"


def as_text(data: bytes) -> str:
    """Return UTF-8 as a str, with each byte that is no UTF-8 as a lone surrogate."""
    return data.decode("utf-8", ESCAPE)


class NormalPart:
    """An added token that is found in text as it is, or text between such, which is normalized."""

    def __init__(self, data: bytes, segment: Segment, encoder: Backend, added: AddedTokens) -> None:
        self._start, self._end, self._token = segment
        self._text = as_text(data[self._start : self._end])
        self._encoder = encoder
        self._added = added

    def ids(self) -> list[int]:
        """Return the ids of the part."""
        if self._token is not None:
            return [self._token.id]
        try:
            return self._encoder.encode(normalize(self._text).encode("utf-8", ESCAPE), self._added)
        except SpecialTokenError as error:
            _, origins, widths = self._aligned()
            place = np.searchsorted(widths, error.position, side="right") - 1
            at = self._start + int(self._bytes_before(origins[place : place + 1, 0])[0])
            raise SpecialTokenError(error.token, at) from None

    def spans(self) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids, and the start and end of each in bytes of the whole text."""
        if self._token is not None:
            return (
                np.array([self._token.id], np.uint32),
                np.array([self._start], np.int64),
                np.array([self._end], np.int64),
            )
        try:
            normal, origins, _ = self._aligned()
            ids, starts, ends = self._encoder.spans(normal.encode("utf-8", ESCAPE), self._added)
        except SpecialTokenError:
            self.ids()
            raise
        places = Places(normal, ESCAPE)
        # A token has at least one byte, so there is a code point at its start and before its end;
        # but for a space that was put before the text.
        first = np.minimum(places.starts(starts), len(normal) - 1)
        last = np.maximum(places.ends(ends) - 1, 0)
        starts = self._start + self._bytes_before(origins[first, 0])
        ends = self._start + self._bytes_before(origins[last, 1])
        return ids, starts, np.maximum(starts, ends)

    def _aligned(self) -> tuple[str, Offsets, Offsets]:
        """Return the normal text, the span of each of its code points, and where its bytes are."""
        normal, spans = alignment(self._text)
        return normal, np.array(spans, np.int64).reshape(-1, 2), Places.bytes_of(normal)

    def _bytes_before(self, chars: Offsets) -> Offsets:
        """Return the offsets in bytes of those in code points of the part."""
        return Places.bytes_of(self._text)[chars]
