"""Define RayEngine, which reads and encodes documents in tasks of Ray.

A shard ends at a number of tokens, and a long document comes in parts that belong together. So one
process takes all results in the order of the documents. The tasks use Ray Core. Ray Data does not
fit, because Ray chooses where its blocks end.

A task reads a group of files, and yields portions of documents. For each portion, another task
returns the tokens. A file can thus occupy many workers, and no text passes through the calling
process. The process takes the oldest result, while Ray works on a limited number of further
portions.
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
PORTION = 8 << 20
"""A portion, the work of one task, is the batches that together have this many bytes of text. Each
task takes Ray about a millisecond. A batch stays small, because it is encoded in the cache."""
HELD_PORTIONS = 2
"""The number of portions that a reader holds before it waits."""


class Work(NamedTuple):
    """The objects that all tasks of a corpus share."""

    tokenizer: Tokenizer
    files: list[str]
    options: Options


def read(shared: Shared[Work], start: Position, end: int) -> Iterator[list[Batch]]:
    """Yield the documents from `start` to the end of the file files[end - 1], in portions."""
    work = value_of(shared)
    with folder_of(shared, work.files[start.file : end]):
        yield from portions(read_parts(work.files[:end], work.options, work.tokenizer, start))


def portions(batches: Iterator[Batch]) -> Iterator[list[Batch]]:
    """Yield `batches` in portions.

    If `batches` raises an error, all earlier batches are yielded first.
    """
    portion: list[Batch] = []
    size = 0
    try:
        for batch in batches:
            portion.append(batch)
            size += batch.texts.size
            if size >= PORTION:
                yield portion
                portion, size = [], 0
    except Exception:
        if portion:
            yield portion
        raise
    if portion:
        yield portion


def encode(shared: Shared[Work], portion: list[Batch]) -> list[Encoded]:
    """Return the tokens of each batch of a portion."""
    work = value_of(shared)
    encoder = DocumentEncoder(work.tokenizer, work.files, work.options)
    return [encoded(batch, *encoder.encode(batch), work.options) for batch in portion]


class RayEngine:
    """Reads and encodes documents in tasks of Ray."""

    def __init__(self, ray: Any, tokenizer: Tokenizer) -> None:
        self._ray = ray
        self._tokenizer = tokenizer

    def encoded(self, files: list[str], options: Options, start: Position) -> Generator[Encoded]:
        """Yield the encoded documents of `files` from `start` on, in order and in batches."""
        ray = self._ray
        shared = share(ray, Work(self._tokenizer, files, options))
        # A reader waits most of the time until its portions are taken, so it must not occupy a CPU.
        reading = task(
            ray,
            read,
            num_cpus=0,
            num_returns="streaming",
            scheduling_strategy="SPREAD",
            _generator_backpressure_num_objects=HELD_PORTIONS,
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
                # Limit the number of portions that are encoded or wait to be taken.
                room = 2 * count + 1 - sum(len(reader.results) for reader in readers)
                for reader in readers:
                    room -= reader.take(room)
                first_reader = readers[0]
                if not first_reader.results:
                    first_reader.wait()
                if first_reader.results:
                    yield from get(ray, first_reader.results.popleft())
                elif first_reader.is_done:
                    readers.popleft()
        finally:
            for reader in readers:
                reader.cancel()


class _Reader:
    """A task that reads, and the tasks that encode its portions."""

    def __init__(self, ray: Any, portions: Any, encoding: Any, shared: Shared[Work]) -> None:
        self.results: deque[Any] = deque()
        """The references of the encoded portions, in order."""
        self.is_done = False
        self._ray = ray
        self._portions = portions
        self._encoding = encoding
        self._shared = shared

    def take(self, most: int) -> int:
        """Begin to encode up to `most` portions that are already read; return their number."""
        taken = 0
        while taken < most and not self.is_done:
            if not self._ray.wait([self._portions], timeout=0, fetch_local=False)[0]:
                break
            self.wait()
            taken += not self.is_done
        return taken

    def wait(self) -> None:
        """Wait for the next portion, and begin to encode it."""
        portion = next(self._portions, None)
        if portion is None:
            self.is_done = True
        else:
            self.results.append(self._encoding.remote(self._shared, portion))

    def cancel(self) -> None:
        """Stop all tasks."""
        for reference in [*self.results, self._portions]:
            self._ray.cancel(reference)
