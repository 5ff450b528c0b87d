"""Megatron-LM's layout: the tokens in .bin, the lengths and offsets of sequences in .idx.

A .idx file has the bytes MMIDIDX, two zero bytes, the version (uint64, 1), the code of the type of
a token (uint8), the number of sequences and the number of document boundaries (both uint64). Then
come three arrays: the length of each sequence in tokens (int32), the offset of each sequence in
bytes (int64), and the document boundaries (int64). The boundaries are the index of the first
sequence of each document, and the number of sequences.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np

from bpe.corpus.layouts.layout import Layout, Staged
from bpe.formats.files import whole_file
from bpe.types import Offsets

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
CODES = {2: 8, 4: 4}
"""The codes of uint16 and of int32, by the size of a token in bytes."""
INDEX_SUFFIX = ".idx"
BLOCK = 1 << 20
"""The number of sequences that are written at a time."""


class MegatronLayout(Layout):
    """Tokens and an index of sequences. A sequence is a document, or with packing a row."""

    name = "megatron"
    suffix = ".bin"
    max_row = (1 << 31) - 1

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of the tokens and of their index."""
        return (self.suffix, INDEX_SUFFIX)

    def finish(self, staged: Staged, place: Path) -> list[Path]:
        """Write the .idx file."""
        path = place.with_name(place.name + INDEX_SUFFIX)
        with whole_file(path) as file:
            _write_index(file, staged.rows, staged.dtype)
        return [path]


def _write_index(file: IO[bytes], offsets: Offsets, dtype: np.dtype[Any]) -> None:
    """Write a .idx file that counts each sequence as a document."""
    count = len(offsets) - 1
    file.write(MAGIC)
    file.write(VERSION.to_bytes(8, "little"))
    file.write(CODES[dtype.itemsize].to_bytes(1, "little"))
    file.write(count.to_bytes(8, "little"))
    file.write((count + 1).to_bytes(8, "little"))
    for first in range(0, count, BLOCK):
        file.write(np.diff(offsets[first : first + BLOCK + 1]).astype("<i4").tobytes())
    for first in range(0, count, BLOCK):
        places = offsets[first : min(first + BLOCK, count)] * dtype.itemsize
        file.write(places.astype("<i8").tobytes())
    for first in range(0, count + 1, BLOCK):
        file.write(np.arange(first, min(first + BLOCK, count + 1), dtype="<i8").tobytes())
