"""Define LocalEngine, which encodes documents in this process."""

from __future__ import annotations

import os
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bpe.corpus.documents import Position
from bpe.corpus.encode import DocumentEncoder, Encoded
from bpe.corpus.options import Options
from bpe.corpus.parts import read_parts
from bpe.corpus.threads import map_in_order, read_ahead
from bpe.corpus.write_back import libc_function
from bpe.tokenizer import Tokenizer

MAX_WORKERS = 64
"""The maximum number of batches that are encoded at a time. Each of them is in memory."""
READY = 2
"""The number of batches beyond one for each worker that are encoded, or wait to be encoded, while
an earlier batch is written. Without them, workers would wait for the writer."""
INTERVAL = 1 << 28
"""The number of bytes of encoded text after which freed memory is returned to the system."""


class LocalEngine:
    """Reads in one thread, and encodes in several threads, each of which encodes a whole batch.

    If all threads encoded one batch together, they would wait for each other at its end.
    """

    def __init__(self, threads: int | None) -> None:
        self._workers = min(threads or _core_count(), MAX_WORKERS)

    def encoded(
        self, tokenizer: Tokenizer, files: list[str], options: Options, start: Position
    ) -> Generator[Encoded]:
        """Yield the encoded documents of `files` from `start` on, in order and in batches."""
        encoder = DocumentEncoder(tokenizer, files, options)
        memory = MemoryTrimmer()

        with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(self._workers) as pool:
            batches = read_ahead(reader, read_parts(files, options, tokenizer, start))
            for item in map_in_order(pool, encoder.encode, batches, self._workers + READY):
                memory.add(item.size)
                yield item


def _core_count() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class MemoryTrimmer:
    """Calls malloc_trim of glibc at intervals.

    Documents and arrays of a few megabytes come and go. Their sizes differ, so they fragment the
    heap of glibc. Without these calls, resident memory would grow with the size of the corpus.
    """

    def __init__(self) -> None:
        self._trim: Any = libc_function("malloc_trim") or (lambda pad: None)
        self._size = 0

    def add(self, size: int) -> None:
        """Count `size` bytes of encoded text; return freed memory after INTERVAL bytes."""
        self._size += size
        if self._size >= INTERVAL:
            self._trim(0)
            self._size = 0
