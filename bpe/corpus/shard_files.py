"""Open the files of a shard, and check them: sizes, headers and offsets."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.layouts.layout import (
    NPY_HEADER_SIZE,
    OFFSETS_SUFFIX,
    Layout,
    npy_header,
    row_offsets,
)
from bpe.corpus.members import OFFSET, Manifest, Shard
from bpe.errors import CorpusError
from bpe.types import Offsets
from pretok.errors import short_path
from pretok.files import file_type

BLOCK = 1 << 20
"""The number of offsets that are checked at a time."""


def size_of(path: Path) -> int:
    """Return the size of a file of a corpus.

    Raises CorpusError unless it is a regular file in the folder of the corpus. A symbolic link may
    only lead to a file in the same folder.
    """
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            target = os.path.realpath(path)
            if os.path.dirname(target) != os.path.realpath(path.parent):
                raise damaged(path, "expected a file in this folder, got a link to a file outside")
            status = path.stat()
    except FileNotFoundError:
        raise damaged(path, "the file is missing") from None
    if not stat.S_ISREG(status.st_mode):
        raise damaged(path, f"expected a regular file, got {file_type(status.st_mode)}")
    return status.st_size


def damaged(path: Path, problem: str) -> CorpusError:
    """Return the error for a damaged file of a corpus."""
    return CorpusError(
        f"{short_path(path)}: {problem}; the file is damaged: restore it, or make the corpus again"
    )


def check_offsets(path: Path, offsets: Offsets, end: int) -> None:
    """Raise CorpusError unless `offsets`, those in the file `path`, ascend from 0 to `end`."""
    bounds = int(offsets[0]), int(offsets[-1])
    if bounds != (0, end):
        raise damaged(path, f"expected offsets from 0 to {end}, got {bounds[0]} to {bounds[1]}")
    for first in range(0, len(offsets) - 1, BLOCK):
        block = offsets[first : first + BLOCK + 1]
        falls = block[1:] < block[:-1]
        if falls.any():
            index = first + int(falls.argmax()) + 1
            raise damaged(
                path,
                f"offset {index} is {offsets[index]}, below the previous one, "
                f"{offsets[index - 1]}; expected ascending offsets",
            )


class OpenShard(NamedTuple):
    """A shard whose files were checked."""

    place: Path
    layout: Layout
    dtype: np.dtype[Any]
    offsets: Offsets
    """The offsets of the documents, mapped from their file."""
    rows: Offsets
    """The offsets of the rows; see `Staged.rows`."""
    vocab_size: int

    def read(self, start: int, end: int) -> NDArray[np.uint32]:
        """Return tokens start:end; raise CorpusError if the file does not have these ids."""
        tokens = self.layout.read(self.place, self.dtype, self.rows, start, end)
        path = self.place.with_name(self.place.name + self.layout.suffix)
        if len(tokens) != end - start:
            raise damaged(path, f"expected tokens {start} to {end}, got {len(tokens)} tokens")
        if len(tokens) and int(tokens.max()) >= self.vocab_size:
            raise damaged(path, f"expected ids below {self.vocab_size}, got id {int(tokens.max())}")
        return tokens.astype(np.uint32, copy=False)


def open_shard(folder: Path, shard: Shard, manifest: Manifest) -> OpenShard:
    """Open a shard whose description in the manifest was checked.

    Raises CorpusError if a file does not have the size of the manifest, a wrong header, or offsets
    that are not those of documents.
    """
    layout, pack = LAYOUTS[manifest.options["layout"]], manifest.options["pack"]
    dtype = np.dtype(manifest.options["dtype"]).newbyteorder("<")
    for name, expected in shard.files.items():
        size = size_of(folder / name)
        if size != expected["bytes"]:
            raise damaged(folder / name, f"expected {expected['bytes']} bytes, got {size}")
    place = folder / shard.name
    if layout.is_raw and layout.header_size:
        _check_header(
            place.with_name(place.name + layout.suffix), layout.header(shard.tokens, dtype, pack)
        )
    path = place.with_name(place.name + OFFSETS_SUFFIX)
    shape = (shard.documents + 1,)
    _check_header(path, npy_header(OFFSET, shape))
    offsets = np.memmap(path, OFFSET, "r", NPY_HEADER_SIZE, shape)
    check_offsets(path, offsets, shard.tokens - shard.padding)
    rows = offsets if layout.is_raw else row_offsets(offsets, shard.tokens, pack)
    return OpenShard(place, layout, dtype, offsets, rows, manifest.tokenizer["vocab_size"])


def _check_header(path: Path, expected: bytes) -> None:
    """Raise CorpusError unless a file begins with the `expected` header."""
    with open(path, "rb") as file:
        header = file.read(len(expected))
    if header != expected:
        shown = header.rstrip(b"\n \0")[:100]
        raise damaged(path, f"expected the header {expected.rstrip()[:100]!r}, got {shown!r}")
