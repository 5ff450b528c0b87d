"""Define PackedTexts: many texts in one buffer, without a Python object for each text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bpe.types import Offsets


class PackedTexts:
    """Texts in UTF-8, one after the other: text i is data[offsets[i]:offsets[i + 1]].

    `data` is an object with the buffer protocol, and is not copied.
    """

    def __init__(self, data: Any, offsets: Offsets) -> None:
        """Check the arguments.

        Raises ValueError if an offset is outside the data, or lower than the offset before it, and
        TypeError if `data` is not a contiguous buffer of bytes, or if `offsets` is not one row of
        integers.
        """
        row = np.asarray(offsets)
        if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
            raise TypeError(
                f"expected offsets in one row of integers, got {row.dtype} of shape {row.shape}"
            )
        self.data = data
        self.offsets = np.ascontiguousarray(row, np.int64)
        try:
            view = memoryview(data)
        except TypeError:
            advice = "; pass data.encode()" if isinstance(data, str) else ""
            raise TypeError(
                f"expected texts in one bytes object or buffer, got {type(data).__name__}{advice}"
            ) from None
        if view.itemsize != 1 or not view.c_contiguous:
            raise TypeError(
                f"expected a contiguous buffer of bytes, got {type(data).__name__} with items of "
                f"{view.itemsize} bytes{'' if view.c_contiguous else ' and with gaps'}"
            )
        size, ends = view.nbytes, self.offsets
        if len(ends) and (ends[0] < 0 or ends[-1] > size or (ends[1:] < ends[:-1]).any()):
            raise ValueError(
                f"expected ascending offsets, each between 0 and {size}, the size of the data"
            )

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> PackedTexts:
        """Return `texts` in a new buffer."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(b"".join(texts), np.concatenate([[0], np.cumsum(sizes)]))

    @classmethod
    def joined(cls, parts: Sequence[PackedTexts]) -> PackedTexts:
        """Return the texts of all `parts`."""
        if len(parts) == 1:
            return parts[0]
        sizes = [np.diff(part.offsets) for part in parts]
        ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]))
        views = [np.frombuffer(part.bytes_view(), np.uint8) for part in parts]
        return cls(np.concatenate([np.zeros(0, np.uint8), *views]), ends)

    def __len__(self) -> int:
        return max(0, len(self.offsets) - 1)

    @property
    def size(self) -> int:
        """The size of all texts in bytes."""
        return int(self.offsets[-1] - self.offsets[0]) if len(self.offsets) else 0

    def bytes_view(self) -> memoryview:
        """Return the bytes of all texts."""
        view = memoryview(self.data).cast("B")
        return view[self.offsets[0] : self.offsets[-1]] if len(self.offsets) else view[:0]

    def after(self, count: int) -> PackedTexts:
        """Return the texts without the first `count` ones."""
        return PackedTexts(self.data, self.offsets[min(count, len(self)) :])

    def __getitem__(self, index: int) -> bytes:
        start, end = self.offsets[index : index + 2].tolist()
        return bytes(memoryview(self.data).cast("B")[start:end])

    def __iter__(self) -> Iterator[bytes]:
        view = memoryview(self.data).cast("B")
        ends = self.offsets.tolist()
        for start, end in pairwise(ends):
            yield bytes(view[start:end])
