"""Shuffle documents: store all of them, then write them in the random order of a seed."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.layouts.layout import NPY_HEADER_SIZE, OFFSETS_SUFFIX
from bpe.corpus.members import OFFSET
from bpe.corpus.shards import PART
from bpe.types import Offsets

CHUNK = 1 << 20
"""The number of tokens that are copied at a time."""
DOCUMENTS = 1 << 11
"""The maximum number of documents that are copied at a time. Linux maps 64 KB for each of them."""


def shuffled_order(count: int, seed: int) -> Offsets:
    """Return the numbers below `count` in the random order of `seed`, the same on each machine.

    The numbers are sorted by their SplitMix64 hashes. Needs 16 bytes of memory for each number.

    >>> shuffled_order(5, 1).tolist()
    [4, 3, 0, 1, 2]
    """
    keys = np.arange(1, count + 1, dtype=np.uint64)
    keys *= np.uint64(0x9E3779B97F4A7C15)
    keys += np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    keys ^= keys >> np.uint64(31)
    return np.argsort(keys, kind="stable")


class Store:
    """The unshuffled documents of a split, in the files of an open shard.

    `state` is the state of the ShardWriter that has written them.
    """

    def __init__(
        self, folder: Path, split: str, dtype: np.dtype[Any], state: dict[str, Any]
    ) -> None:
        self._mapping: mmap.mmap | None = None
        self._tokens: NDArray[np.integer] = np.zeros(0, dtype)
        self._ends: Offsets = np.zeros(0, OFFSET)
        place = folder / f"{split}-00000"
        count, tokens = state["documents"], state["tokens"]
        if tokens:
            path = place.with_name(f"{place.name}.bin{PART}")
            with open(path, "rb") as file:
                self._mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._tokens = np.frombuffer(self._mapping, dtype, tokens)
        if count:
            path = place.with_name(place.name + OFFSETS_SUFFIX + PART)
            offset = NPY_HEADER_SIZE + OFFSET.itemsize
            self._ends = np.memmap(path, OFFSET, "r", offset, (count,))

    def __len__(self) -> int:
        return len(self._ends)

    def chunks(self, order: Offsets) -> Iterator[tuple[NDArray[np.integer], Offsets]]:
        """Yield the documents of `order` in chunks: arguments (tokens, ends) of ShardWriter.add."""
        for first in range(0, len(order), DOCUMENTS):
            some = order[first : first + DOCUMENTS]
            ends = self._ends[some]
            starts = np.where(some == 0, 0, self._ends[some - 1])
            for chunk in self._chunks(starts, ends):
                yield chunk
                self._unmap_pages()

    def _unmap_pages(self) -> None:
        """Remove the pages of the tokens from the memory of this process; they can be read again.

        Otherwise, resident memory would grow to the size of the store.
        """
        if self._mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapping.madvise(mmap.MADV_DONTNEED)

    def _chunks(
        self, starts: Offsets, ends: Offsets
    ) -> Iterator[tuple[NDArray[np.integer], Offsets]]:
        """Yield documents in chunks of up to CHUNK tokens; divide a longer document."""
        sums = np.cumsum(ends - starts)
        at = 0
        while at < len(ends):
            done = int(sums[at - 1]) if at else 0
            stop = int(np.searchsorted(sums, done + CHUNK, side="right"))
            if stop > at:
                spans = zip(starts[at:stop].tolist(), ends[at:stop].tolist(), strict=True)
                tokens = np.concatenate([self._tokens[start:end] for start, end in spans])
                yield tokens, sums[at:stop] - done
                at = stop
                continue
            start, end = int(starts[at]), int(ends[at])
            for part in range(start, end, CHUNK):
                size = min(CHUNK, end - part)
                is_last = part + size == end
                yield self._tokens[part : part + size], np.array([size] * is_last, np.int64)
            at += 1
