"""Define NormalizedSegment, a segment of a text that is normalized before it is encoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np

from bpe.encoding.added_tokens import AddedTokenSearch
from bpe.encoding.backends import Backend
from bpe.encoding.normalize import alignment
from bpe.encoding.offsets import ByteToCharOffsets, byte_offsets
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8
from bpe.errors import SpecialTokenError
from bpe.types import Ids, Offsets

Result = TypeVar("Result")
Work: TypeAlias = Callable[[StrOrBytes, AddedTokenSearch, int], Result]
"""A method of Backend: takes a text, its added tokens, and the number of threads."""
Spans: TypeAlias = tuple[Ids, Offsets, Offsets]
"""The ids of a text, and the start and the end of the span of each id."""


class NormalizedSegment:
    """An added token that is found before normalization, or the text between two of them."""

    def __init__(
        self,
        data: bytes,
        start: int,
        id: int | None,
        backend: Backend,
        added: AddedTokenSearch,
        threads: int,
    ) -> None:
        """Store the segment `data`, which begins at byte `start` of a text.

        `id` is the id of an added token, or None for text. `added` finds the tokens that are
        searched after normalization.
        """
        self._data = data
        self._start = start
        self._id = id
        self._backend = backend
        self._added = added
        self._threads = threads

    def encode(self, work: Work[Result], from_id: Callable[[int], Result]) -> Result:
        """Return the result of `work` for normalized text, or of `from_id` for an added token."""
        if self._id is not None:
            return from_id(self._id)
        try:
            return work(self._backend.normalized(self._data), self._added, self._threads)
        except SpecialTokenError as error:
            raise self._located(error) from None

    def spans(self, work: Work[Spans]) -> Spans:
        """Return the ids, and the half-open span of each id in bytes of the whole text."""
        if self._id is not None:
            return (
                np.array([self._id], np.uint32),
                np.array([self._start], np.int64),
                np.array([self._start + len(self._data)], np.int64),
            )
        try:
            normal, origins = self._aligned()
            ids, starts, ends = work(normal.encode("utf-8", ESCAPE), self._added, self._threads)
        except SpecialTokenError as error:
            raise self._located(error) from None
        offsets = ByteToCharOffsets(normal, ESCAPE)
        # `first` and `last` are the indexes of the first and the last code point of each token. A
        # token that is only the prefix space may have no code point, so clamp them.
        first = np.minimum(offsets.starts(starts), len(normal) - 1)
        last = np.maximum(offsets.ends(ends) - 1, 0)
        starts = self._start + self._byte_offsets(origins[first, 0])
        ends = self._start + self._byte_offsets(origins[last, 1])
        return ids, starts, np.maximum(starts, ends)

    def _located(self, error: SpecialTokenError) -> SpecialTokenError:
        """Return `error` with the offset in bytes of the whole text before normalization."""
        normal, origins = self._aligned()
        index = np.searchsorted(byte_offsets(normal), error.position, side="right") - 1
        position = self._start + int(self._byte_offsets(origins[index : index + 1, 0])[0])
        return SpecialTokenError(error.token, position)

    def _aligned(self) -> tuple[str, Offsets]:
        """Return the normalized text, and the span of each of its code points in the segment."""
        normal, spans = alignment(decode_utf8(self._data))
        return normal, np.array(spans, np.int64).reshape(-1, 2)

    def _byte_offsets(self, chars: Offsets) -> Offsets:
        """Convert offsets in code points of the segment to offsets in bytes."""
        return byte_offsets(decode_utf8(self._data))[chars]
