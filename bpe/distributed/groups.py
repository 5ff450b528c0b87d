"""Divide lists of files into groups, one for each task."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bpe.training.corpus import COMPRESSED, EXPANSION

GROUP = 64 << 20
"""A group ends with the file that brings its texts to this total size in bytes."""


class FileGroup(NamedTuple):
    """The files files[start:end], whose texts have about `size` bytes."""

    start: int
    end: int
    size: int


def groups(files: Sequence[str], first: int = 0) -> Iterator[FileGroup]:
    """Yield groups of consecutive files, from files[first] on.

    A group ends with the file that brings it to GROUP bytes or more.
    """
    size = 0
    for index in range(first, len(files)):
        size += _size_of_texts(files[index])
        if size >= GROUP or index + 1 == len(files):
            yield FileGroup(first, index + 1, size)
            first, size = index + 1, 0


def _size_of_texts(name: str) -> int:
    """Return the estimated size of the texts of a file."""
    is_compressed = name.lower().endswith(COMPRESSED)
    return os.path.getsize(name) * (EXPANSION if is_compressed else 1)
