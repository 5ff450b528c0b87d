"""Layouts with one file of tokens: raw (nanoGPT), with the header of llm.c, and .npy."""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe.corpus.layouts.layout import NPY_HEADER_SIZE, Layout, npy_header

HEADER_INTS = 256
MAGICS = {2: (20240520, 1), 4: (20240801, 7)}
"""llm.c's magic number and version for tokens of 2 and of 4 bytes."""


class BinLayout(Layout):
    """Tokens only, little-endian, as nanoGPT's np.memmap reads them."""

    name = "bin"
    suffix = ".bin"


class LlmcLayout(Layout):
    """The tokens after llm.c's header of 256 int32: magic number, version, number of tokens."""

    name = "llmc"
    suffix = ".bin"
    header_size = HEADER_INTS * 4
    max_shard = (1 << 31) - 1

    def header(self, tokens: int, dtype: np.dtype[Any], row: int | None) -> bytes:
        """Return the header."""
        header = np.zeros(HEADER_INTS, "<i4")
        header[:3] = *MAGICS[dtype.itemsize], tokens
        return header.tobytes()


class NpyLayout(Layout):
    """A .npy file: an array of tokens, or, if documents are packed into rows, a 2-D array."""

    name = "npy"
    suffix = ".npy"
    header_size = NPY_HEADER_SIZE

    def header(self, tokens: int, dtype: np.dtype[Any], row: int | None) -> bytes:
        """Return the header."""
        return npy_header(dtype, (tokens,) if row is None else (tokens // row, row))
