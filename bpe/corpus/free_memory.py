"""Return freed memory to the system during long work."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress

INTERVAL = 1 << 28
"""The number of bytes of encoded text after which memory is returned."""


class MemoryTrimmer:
    """Calls malloc_trim of glibc at intervals.

    Documents and arrays of a few megabytes come and go. Their sizes differ, so they fragment the
    heap of glibc. Without these calls, resident memory would grow with the size of the corpus.
    """

    def __init__(self) -> None:
        self._trim: Callable[[int], object] = lambda pad: None
        with suppress(OSError, AttributeError, TypeError):  # raised without glibc
            self._trim = ctypes.CDLL(None).malloc_trim
        self._size = 0

    def add(self, size: int) -> None:
        """Count `size` bytes of encoded text; return freed memory after INTERVAL bytes."""
        self._size += size
        if self._size >= INTERVAL:
            self._trim(0)
            self._size = 0
