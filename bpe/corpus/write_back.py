"""Let the system write the data of a file to the disk while more data is appended."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

INTERVAL = 1 << 24
"""The number of appended bytes after which the system begins to write them to the disk."""
SYNC_FILE_RANGE_WRITE = 2


def libc_function(name: str) -> Any:
    """Return a function of the C library of the system, or None if it has no such function."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None


def _sync_file_range() -> Callable[[int, int, int, int], int]:
    """Return the function of Linux; elsewhere, return a function that does nothing."""
    function = libc_function("sync_file_range")
    if function is None:
        return lambda descriptor, start, size, flags: 0
    function.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    return function  # type: ignore[no-any-return]


class WriteBack:
    """Begins to write appended data to the disk, in intervals.

    Otherwise the system keeps the data in memory for seconds, and fsync at the end of a shard has
    to wait until all of it is written. An error is not reported here: fsync reports it.
    """

    def __init__(self, size: int) -> None:
        """Begin with a file of `size` bytes."""
        self._start = self._end = size
        self._begin = _sync_file_range()

    def add(self, descriptor: int, size: int) -> None:
        """Count `size` bytes, appended to the file; begin to write after INTERVAL bytes."""
        self._end += size
        if self._end - self._start >= INTERVAL:
            self._begin(descriptor, self._start, self._end - self._start, SYNC_FILE_RANGE_WRITE)
            self._start = self._end
