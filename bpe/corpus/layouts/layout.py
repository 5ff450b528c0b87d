"""Define Layout, the base class of the file formats of a shard, and those with one file of tokens.

They are raw (nanoGPT), with the header of llm.c, and .npy. The module also has the suffix of the
file of document offsets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.types import Offsets

OFFSETS_SUFFIX = ".offsets.npy"
NPY_HEADER_SIZE = 128
HEADER_INTS = 256
MAGICS = {2: (20240520, 1), 4: (20240801, 7)}
"""llm.c's magic number and version for tokens of 2 and of 4 bytes."""


def row_offsets(offsets: Offsets, tokens: int, row: int | None) -> Offsets:
    """Return the offsets of rows of length `row`, or of the documents if `row` is None."""
    return offsets if row is None else np.arange(0, tokens + 1, row, dtype=np.int64)


class Staged(NamedTuple):
    """A shard to finish: its tokens and the offsets of its documents are in two files."""

    tokens_path: Path
    header_size: int
    tokens: int
    """The number of tokens, padding included."""
    dtype: np.dtype[Any]
    offsets: Offsets
    """n + 1 offsets of n documents, counted in tokens; an array mapped from its file."""
    row: int | None
    """The length of a row of packed documents; None without packing."""

    @property
    def rows(self) -> Offsets:
        """The offsets of the rows. A row is a document, or `row` tokens of packed documents."""
        return row_offsets(self.offsets, self.tokens, self.row)

    def read(self, start: int, end: int) -> NDArray[np.integer]:
        """Return tokens start:end."""
        return read_tokens(self.tokens_path, self.header_size, self.dtype, start, end)


class Layout:
    """A format that stores a shard.

    In the base class it is one file with a header and then the tokens, which the caller writes.
    """

    name: str
    suffix: str
    header_size = 0
    max_row: int | None = None
    """The maximum number of tokens of a row, if there is a limit."""
    max_shard: int | None = None
    """The maximum number of tokens of a shard, if there is a limit."""

    is_raw = True
    """True if the tokens are stored one after the other, after the header."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of all files of a shard, except the file of offsets."""
        return (self.suffix,)

    def check(self) -> None:
        """Raise ModuleNotFoundError if a package is missing that this layout needs."""

    def header(self, tokens: int, dtype: np.dtype[Any], row: int | None) -> bytes:
        """Return the header, of `header_size` bytes."""
        return b""

    def finish(self, staged: Staged, place: Path) -> list[Path]:
        """Write the further files of the shard; return their paths.

        `place` is the path of the shard without a suffix. The caller has written the file of
        offsets and the staged file of header and tokens.

        A layout that stores tokens in a format of its own writes a file with the suffix of the
        layout here, and the caller then deletes the staged file. Otherwise the caller renames the
        staged file to `place` with this suffix.
        """
        return []

    def read(
        self, place: Path, dtype: np.dtype[Any], rows: Offsets, start: int, end: int
    ) -> NDArray[np.integer]:
        """Return tokens start:end of the shard at `place`; `rows` are as in `Staged.rows`."""
        path = place.with_name(place.name + self.suffix)
        return read_tokens(path, self.header_size, dtype, start, end)


def read_tokens(
    path: Path, header_size: int, dtype: np.dtype[Any], start: int, end: int
) -> NDArray[np.integer]:
    """Return tokens start:end of a file of tokens after a header."""
    tokens: NDArray[np.integer] = np.fromfile(
        path, dtype, end - start, offset=header_size + start * dtype.itemsize
    )
    return tokens


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header of a .npy file, always of NPY_HEADER_SIZE bytes."""
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    magic = b"\x93NUMPY\x01\x00" + (NPY_HEADER_SIZE - 10).to_bytes(2, "little")
    return magic + text.encode().ljust(NPY_HEADER_SIZE - 11) + b"\n"


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
