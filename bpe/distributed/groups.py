"""Divide lists of files into groups, one for each task."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

GROUP = 64 << 20
"""A group ends with the file that brings it to this total size in bytes."""


def groups(files: Sequence[str], first: int = 0) -> Iterator[tuple[int, int]]:
    """Yield groups of consecutive files: each (start, end) stands for files[start:end].

    The first group begins with files[first]. A group ends with the file that brings it to a
    total size of GROUP bytes or more.
    """
    size = 0
    for index in range(first, len(files)):
        size += os.path.getsize(files[index])
        if size >= GROUP or index + 1 == len(files):
            yield first, index + 1
            first, size = index + 1, 0
