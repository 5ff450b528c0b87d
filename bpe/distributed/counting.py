"""Count the pre-tokens of texts in tasks of Ray."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, cast

from bpe.distributed.cluster import Shared, cpus, folder_of, get, share, task, value_of
from bpe.distributed.groups import GROUP
from bpe.encoding.utf8 import StrOrBytes
from bpe.training.corpus import Path, TrainingSource, name_of, source_items
from bpe.training.runs import RunSize, run_file
from bpe.training.training import Training
from bpe.training.work_folder import WorkFolder, identity_of
from pretok.machine.backend import choose_backend

RUNS_PER_STATE = 16
"""The number of runs after which they are stored as finished."""
TEXTS = 8 << 20
"""The approximate size in bytes of the texts in memory that one task counts."""


def count_runs(
    ray: Any, training: Training, folder: WorkFolder, advance: Callable[[int], object]
) -> None:
    """Count the pre-tokens of `training` in tasks, to one run for each task."""
    shared = share(ray, training._replace(source=(), include=(), threads=1, bound=None))
    counter = task(ray, count_run, num_cpus=1)
    backend = choose_backend(training.backend)
    inputs: list[list[Any]] = []
    waiting: deque[tuple[list[Any], Any]] = deque()

    def take() -> None:
        identity, reference = waiting.popleft()
        blocks, run_size, size = get(ray, reference)
        number, path = folder.new_run()
        with run_file(path) as write:
            for block in blocks:
                write(block)
        folder.add_run(number, run_size)
        inputs.append(identity)
        if len(inputs) % RUNS_PER_STATE == 0:
            folder.commit(inputs, None, 0, backend)
        advance(size)

    index = -1
    for index, part in enumerate(_parts(source_items(training.source, TEXTS, training.include))):
        names = [name_of(item) for item in part if isinstance(item, os.PathLike)]
        identity = identity_of_part(part)
        if index < len(folder.done):
            folder.check_input(index, identity)
            inputs.append(identity)
            continue
        if folder.size is not None:
            break
        waiting.append((identity, counter.remote(shared, part, names)))
        while len(waiting) > 2 * cpus(ray):
            take()
    while waiting:
        take()
    folder.check_end(index + 1)
    if folder.size is None:
        folder.commit(inputs, None, 0, backend)
        folder.finish(backend)


def identity_of_part(part: list[StrOrBytes] | list[Path]) -> list[Any]:
    """Return what shows that the source of a task has not changed."""
    files = [item for item in part if isinstance(item, os.PathLike)]
    if files:
        return ["", *chain.from_iterable(identity_of(file, True) for file in files)]
    return identity_of(cast("list[StrOrBytes]", part), True)


def count_run(
    shared: Shared[Training], source: TrainingSource, names: list[str]
) -> tuple[list[bytes], RunSize, int]:
    """Return the blocks and the size of the run of `source`, and the size of its texts."""
    sizes: list[int] = []
    blocks: list[bytes] = []
    with folder_of(shared, names):
        words = value_of(shared)._replace(source=source).words(sizes.append)
    size = RunSize(*words.spill(blocks.append))
    return blocks, size, sum(sizes)


def _parts(items: Iterator[list[StrOrBytes] | Path]) -> Iterator[list[StrOrBytes] | list[Path]]:
    """Yield the source of each task: a list of texts, or a list of files."""
    paths: list[Path] = []
    size = 0
    for item in items:
        if isinstance(item, os.PathLike):
            paths.append(item)
            size += os.path.getsize(item)
        if paths and (size >= GROUP or isinstance(item, list)):
            yield paths
            paths, size = [], 0
        if isinstance(item, list):
            yield item
    if paths:
        yield paths
