"""Read and encode documents in tasks of Ray.

A shard ends at a number of tokens, and a long document comes in parts that belong together. So one
process takes all results in the order of the documents. The tasks use Ray Core. Ray Data does not
fit, because Ray chooses where its blocks end.

A task reads and encodes a group of files, and yields the tokens in portions. The calling process
takes all portions of the oldest group, while tasks work on the next groups. If the group has a
large file, a task only reads it, and yields portions of documents. For each portion, another task
returns the tokens. So a large file occupies many workers. No text passes through the calling
process, and the number of portions that wait is limited.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from bpe.corpus.documents import Batch, Position
from bpe.corpus.encode import DocumentEncoder, Encoded
from bpe.corpus.options import Options
from bpe.corpus.parts import read_parts
from bpe.distributed.cluster import Shared, cpus, folder_of, get, share, task, value_of
from bpe.distributed.groups import GROUP, FileGroup, groups
from bpe.tokenizer import Tokenizer

Item = TypeVar("Item")

CPUS_OF_A_READER = 8
"""The number of CPUs for each task that only reads, because reading takes an eighth of the time of
encoding."""
LARGE = 2 * GROUP
"""A group with more bytes of text than this has a large file."""
PORTION = 8 << 20
"""A portion is the batches that together have this many bytes of text. Each task and each result
take Ray about a millisecond. A batch stays small, because it is encoded in the cache."""
HELD_PORTIONS = 2
"""The number of portions of a large file that its reader holds before it waits."""
HELD_RESULTS = 32
"""The number of encoded portions that a task holds before it waits: about all of its group."""


class Work(NamedTuple):
    """The objects that all tasks of a corpus share."""

    tokenizer: Tokenizer
    files: list[str]
    options: Options


def read(shared: Shared[Work], start: Position, end: int) -> Iterator[list[Batch]]:
    """Yield the documents from `start` to the end of the file files[end - 1], in portions."""
    yield from portions(_batches(shared, start, end), lambda batch: batch.texts.size)


def encode(shared: Shared[Work], portion: list[Batch]) -> list[Encoded]:
    """Return the tokens of each batch of a portion."""
    return list(_encoded(value_of(shared), portion))


def read_and_encode(shared: Shared[Work], start: Position, end: int) -> Iterator[list[Encoded]]:
    """Yield the tokens of the documents from `start` to the end of files[end - 1], in portions."""
    batches = _encoded(value_of(shared), _batches(shared, start, end))
    yield from portions(batches, lambda item: item.size)


def _batches(shared: Shared[Work], start: Position, end: int) -> Iterator[Batch]:
    work = value_of(shared)
    with folder_of(shared, work.files[start.file : end]):
        yield from read_parts(work.files[:end], work.options, work.tokenizer, start)


def _encoded(work: Work, batches: Iterable[Batch]) -> Iterator[Encoded]:
    return map(DocumentEncoder(*work).encode, batches)


def portions(items: Iterator[Item], size_of: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield `items` in portions; `size_of` returns the size of the texts of an item.

    If `items` raises an error, all earlier items are yielded first.
    """
    portion: list[Item] = []
    size = 0
    try:
        for item in items:
            portion.append(item)
            size += size_of(item)
            if size >= PORTION:
                yield portion
                portion, size = [], 0
    except Exception:
        if portion:
            yield portion
        raise
    if portion:
        yield portion


def encode_files(
    ray: Any, tokenizer: Tokenizer, files: list[str], options: Options, start: Position
) -> Generator[Encoded]:
    """Yield the encoded documents of `files` from `start` on, in order and in batches."""
    shared = share(ray, Work(tokenizer, files, options))
    tasks = _Tasks(ray)
    waiting = groups(files, start.file)
    group = next(waiting, None)
    sources: deque[_Source] = deque()
    try:
        while group is not None or sources:
            count = cpus(ray)
            while group is not None and _may_begin(group, sources, count):
                first = start if group.start == start.file else Position(group.start)
                make = _LargeFile if group.size > LARGE else _Source
                sources.append(make(tasks, shared, first, group.end))
                group = next(waiting, None)
            # Limit the number of portions that are encoded or wait to be taken.
            room = 2 * count + 1 - sum(source.begun for source in sources)
            for source in sources:
                room -= source.begin(room)
            result = sources[0].next_result()
            if result is None:
                sources.popleft()
            else:
                yield from get(ray, result)
    finally:
        for source in sources:
            source.cancel()


def _may_begin(group: FileGroup, sources: Collection[_Source], count: int) -> bool:
    """Return whether the task of `group` may begin in addition to `sources`, with `count` CPUs."""
    readers = sum(isinstance(source, _LargeFile) for source in sources)
    if group.size > LARGE:
        return readers <= count // CPUS_OF_A_READER
    # One more than CPUs: it begins when the first ends.
    return len(sources) - readers <= count


class _Tasks:
    """The functions of this module as tasks of Ray."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        streaming = {"num_returns": "streaming", "scheduling_strategy": "SPREAD"}
        # A reader waits most of the time until its portions are taken, so it must not occupy a CPU.
        self.read = task(
            ray, read, num_cpus=0, _generator_backpressure_num_objects=HELD_PORTIONS, **streaming
        )
        self.encode = task(ray, encode, num_cpus=1)
        self.read_and_encode = task(
            ray,
            read_and_encode,
            num_cpus=1,
            _generator_backpressure_num_objects=HELD_RESULTS,
            **streaming,
        )


class _Source:
    """A task that reads and encodes a group of small files."""

    begun = 0
    """The number of tasks that encode single portions, and whose results were not taken."""

    def __init__(self, tasks: _Tasks, shared: Shared[Work], start: Position, end: int) -> None:
        self._ray = tasks.ray
        self._results = tasks.read_and_encode.remote(shared, start, end)

    def begin(self, most: int) -> int:
        """Begin to encode up to `most` portions that are already read; return their number."""
        return 0

    def next_result(self) -> Any:
        """Return the reference of the next portion of tokens, or None after the last portion."""
        return next(self._results, None)

    def cancel(self) -> None:
        """Stop all tasks."""
        self._ray.cancel(self._results)


class _LargeFile(_Source):
    """A task that reads files, and the tasks that encode its portions."""

    def __init__(self, tasks: _Tasks, shared: Shared[Work], start: Position, end: int) -> None:
        self._ray = tasks.ray
        self._encode = tasks.encode
        self._shared = shared
        self._portions = tasks.read.remote(shared, start, end)
        self._results: deque[Any] = deque()
        self._is_done = False

    @property
    def begun(self) -> int:  # type: ignore[override]
        return len(self._results)

    def begin(self, most: int) -> int:
        taken = 0
        while taken < most and not self._is_done:
            if not self._ray.wait([self._portions], timeout=0, fetch_local=False)[0]:
                break
            taken += self._begin_next()
        return taken

    def _begin_next(self) -> bool:
        """Wait for the next portion, and begin to encode it; return False after the last one."""
        portion = next(self._portions, None)
        self._is_done = portion is None
        if not self._is_done:
            self._results.append(self._encode.remote(self._shared, portion))
        return not self._is_done

    def next_result(self) -> Any:
        if not self._results and (self._is_done or not self._begin_next()):
            return None
        return self._results.popleft()

    def cancel(self) -> None:
        for reference in [*self._results, self._portions]:
            self._ray.cancel(reference)
