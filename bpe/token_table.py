"""Define TokenTable, which holds the tokens of a vocabulary."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.once import once


class Packed(NamedTuple):
    """Tokens as arrays: their concatenated bytes, and the length and the id of each token."""

    data: bytes
    lengths: NDArray[np.uint32]
    ids: NDArray[np.uint32]

    @classmethod
    def of(cls, tokens: Mapping[int, bytes]) -> Packed:
        """Pack `tokens`, which maps ids to bytes, in the order of the mapping."""
        lengths = np.fromiter(map(len, tokens.values()), np.uint32, len(tokens))
        return cls(b"".join(tokens.values()), lengths, np.fromiter(tokens, np.uint32, len(tokens)))

    def at(self, id: int) -> bytes:
        """Return the bytes of the token with this id, which exists."""
        place = int(np.flatnonzero(self.ids == id)[0])
        start = int(self.lengths[:place].sum(dtype=np.int64))
        return self.data[start : start + int(self.lengths[place])]

    def unpacked(self) -> dict[int, bytes]:
        """Return the bytes of each token by its id."""
        ends = np.cumsum(self.lengths, dtype=np.int64).tolist()
        tokens = [self.data[start:end] for start, end in pairwise([0, *ends])]
        return dict(zip(self.ids.tolist(), tokens, strict=True))

    def texts(self) -> list[str]:
        """Return the tokens, decoded from UTF-8; raises UnicodeDecodeError if one is not UTF-8."""
        ends = np.cumsum(self.lengths, dtype=np.int64)
        starts_code_point = (np.frombuffer(self.data, np.uint8) & 0xC0) != 0x80
        if not starts_code_point[ends - self.lengths].all():
            return [token.decode() for token in self.unpacked().values()]  # raises the error
        text = self.data.decode()
        counts = np.concatenate([[0], np.cumsum(starts_code_point)])
        return [text[start:end] for start, end in pairwise([0, *counts[ends].tolist()])]


class TokenTable:
    """Tokens by id, as a dict or as arrays; the other form is made when first read.

    >>> table = TokenTable(arrays=Packed.of({4: b"a", 0: b"bc"}))
    >>> table.by_id, table.get(0), table.size, len(table)
    ({4: b'a', 0: b'bc'}, b'bc', 5, 2)
    """

    def __init__(
        self, by_id: Mapping[int, bytes] | None = None, arrays: Packed | None = None
    ) -> None:
        """Store the form that the caller has."""
        self._by_id = None if by_id is None else dict(by_id)
        self.arrays = arrays

    @property
    def by_id(self) -> dict[int, bytes]:
        """The bytes of each token by its id; do not change it."""
        by_id = self._by_id
        if by_id is None:
            # Two threads may both compute the value: the results are equal.
            by_id = self._by_id = self._unpacked()
        return by_id

    @property
    def packed(self) -> Packed:
        """The tokens as arrays."""
        return Packed.of(self.by_id) if self.arrays is None else self.arrays

    @property
    def ids(self) -> Collection[int]:
        """The ids of all tokens, in any order."""
        if self._by_id is None and self.arrays is not None:
            ids: list[int] = self.arrays.ids.tolist()
            return ids
        return self.by_id.keys()

    def get(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        if self._by_id is not None or self.arrays is None:
            return self.by_id.get(id)
        places, ends = self._places
        place = int(places[id]) if 0 <= id < len(places) else -1
        if place < 0:
            return None
        end = int(ends[place])
        return self.arrays.data[end - int(self.arrays.lengths[place]) : end]

    def trim(self) -> None:
        """Drop the form that the other one can make again."""
        if self.arrays is not None:
            self._by_id = None

    def _unpacked(self) -> dict[int, bytes]:
        return self.packed.unpacked()

    @once
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The index of each id in `packed`, or -1; and the end of each token in its data."""
        places = np.full(self.size, -1, np.int64)
        places[self.packed.ids] = np.arange(len(self.packed.ids))
        return places, np.cumsum(self.packed.lengths, dtype=np.int64)

    @once
    def size(self) -> int:
        """One more than the largest id."""
        if self.arrays is not None:
            return 1 + int(self.arrays.ids.max())
        return 1 + max(self.by_id, default=-1)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.by_id if self.arrays is None else self.arrays.ids)
