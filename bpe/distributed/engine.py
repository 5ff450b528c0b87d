"""Define RayEngine, which reads and encodes documents in tasks of Ray.

A shard ends at a number of tokens, and a long document comes in parts that belong together. So one
process takes all results in the order of the documents. The tasks use Ray Core. Ray Data does not
fit, because Ray chooses where its blocks end.

A task reads a group of files, and yields batches of documents. For each batch, another task returns
the tokens. A file can thus occupy many workers, and no text passes through the calling process. The
process takes the oldest result, while Ray works on a limited number of further batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from bpe.corpus.documents import Batch, Position
from bpe.corpus.encode import DocumentEncoder, Encoded, encoded
from bpe.corpus.options import Options
from bpe.corpus.parts import read_parts
from bpe.distributed.cluster import Shared, cpus, folder_of, get, share, task, value_of
from bpe.distributed.groups import groups
from bpe.tokenizer import Tokenizer

CPUS_OF_A_READER = 8
"""The number of CPUs for each reader, because one CPU reads about 8 times as fast as it encodes."""
HELD_BATCHES = 2
"""The number of batches that a reader holds before it waits."""


class Work(NamedTuple):
    """The objects that all tasks of a corpus share."""

    tokenizer: Tokenizer
    files: list[str]
    options: Options


def read(shared: Shared[Work], start: Position, end: int) -> Iterator[Batch]:
    """Yield the documents from `start` to the end of the file files[end - 1]."""
    work = value_of(shared)
    with folder_of(shared, work.files[start.file : end]):
        yield from read_parts(work.files[:end], work.options, work.tokenizer, start)


def encode(shared: Shared[Work], batch: Batch) -> Encoded:
    """Return the tokens of a batch."""
    work = value_of(shared)
    encoder = DocumentEncoder(work.tokenizer, work.files, work.options, threads=1)
    ids, offsets = encoder.encode(batch)
    return encoded(batch, ids, offsets, work.options)


class RayEngine:
    """Reads and encodes documents in tasks of Ray."""

    def __init__(self, ray: Any, tokenizer: Tokenizer) -> None:
        self._ray = ray
        self._tokenizer = tokenizer

    def encoded(self, files: list[str], options: Options, start: Position) -> Generator[Encoded]:
        """Yield the encoded documents of `files` from `start` on, in order and in batches."""
        ray = self._ray
        shared = share(ray, Work(self._tokenizer, files, options))
        # A reader waits most of the time until its batches are taken, so it must not occupy a CPU.
        reading = task(
            ray,
            read,
            num_cpus=0,
            num_returns="streaming",
            scheduling_strategy="SPREAD",
            _generator_backpressure_num_objects=HELD_BATCHES,
        )
        encoding = task(ray, encode, num_cpus=1)
        starts = (
            (start if first == start.file else Position(first), end)
            for first, end in groups(files, start.file)
        )
        readers: deque[_Reader] = deque()
        try:
            while True:
                count = cpus(ray)
                while len(readers) <= count // CPUS_OF_A_READER and (group := next(starts, None)):
                    readers.append(_Reader(ray, reading.remote(shared, *group), encoding, shared))
                if not readers:
                    return
                # Limit the number of batches that are encoded or wait to be taken.
                room = 2 * count + 1 - sum(len(reader.results) for reader in readers)
                for reader in readers:
                    room -= reader.take(room)
                first_reader = readers[0]
                if not first_reader.results:
                    first_reader.wait()
                if first_reader.results:
                    yield get(ray, first_reader.results.popleft())
                elif first_reader.is_done:
                    readers.popleft()
        finally:
            for reader in readers:
                reader.cancel()


class _Reader:
    """A task that reads, and the tasks that encode its batches."""

    def __init__(self, ray: Any, batches: Any, encoding: Any, shared: Shared[Work]) -> None:
        self.results: deque[Any] = deque()
        """The references of the encoded batches, in order."""
        self.is_done = False
        self._ray = ray
        self._batches = batches
        self._encoding = encoding
        self._shared = shared

    def take(self, most: int) -> int:
        """Begin to encode up to `most` batches that are already read; return their number."""
        taken = 0
        while taken < most and not self.is_done:
            if not self._ray.wait([self._batches], timeout=0, fetch_local=False)[0]:
                break
            self.wait()
            taken += not self.is_done
        return taken

    def wait(self) -> None:
        """Wait for the next batch, and begin to encode it."""
        batch = next(self._batches, None)
        if batch is None:
            self.is_done = True
        else:
            self.results.append(self._encoding.remote(self._shared, batch))

    def cancel(self) -> None:
        """Stop all tasks."""
        for reference in [*self.results, self._batches]:
            self._ray.cancel(reference)
