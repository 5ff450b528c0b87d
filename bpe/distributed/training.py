"""Define `train`, which counts pre-tokens on a Ray cluster."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bpe.distributed.cluster import Shared, connected, cpus, folder_of, get, share, task, value_of
from bpe.distributed.groups import GROUP
from bpe.encoding.foreign_arguments import TRAIN, explained
from bpe.encoding.utf8 import StrOrBytes
from bpe.tokenizer import Tokenizer
from bpe.training.corpus import Path, Source, name_of, source_items
from bpe.training.counting import empty_words
from bpe.training.train import Alphabet, Training
from bpe.training.trainer import TieBreak, Words
from bpe.types import PresetLike
from pretok.machine.backend import BackendName, choose_backend

Counts = list[tuple[bytes, int]]
"""Words (distinct pre-tokens) with their counts, in the order of first appearance."""
FAN_IN = 8
"""The number of Counts that one task adds up."""
TEXTS = 8 << 20
"""The approximate size in bytes of the texts in memory that one task counts."""


@explained(TRAIN)
def train(
    source: Source,
    vocab_size: int,
    *,
    preset: PresetLike | None = None,
    special_tokens: Sequence[str] | Mapping[str, int] = (),
    alphabet: Alphabet = "bytes",
    byte_fallback: bool = False,
    character_coverage: float = 1.0,
    required_characters: str = "",
    unknown_token: str = "<unk>",
    min_frequency: int = 0,
    max_token_length: int | None = None,
    tie_break: TieBreak = "huggingface",
    field: str = "text",
    include: str | Iterable[str] = (),
    max_pre_token: int | None = None,
    max_text: int | None = None,
    progress: bool | None = None,
    backend: BackendName | None = None,
    cache_mb: float | None = None,
) -> Tokenizer:
    """Return the Tokenizer of `bpe.train`, but count pre-tokens on a Ray cluster.

    The arguments, the errors and the result are those of `bpe.train`. Call `ray.init` for a running
    cluster first; otherwise Ray starts one on this machine. All nodes must have this package, and
    must find files under the same names. A task counts some files; one file is never divided. Other
    tasks add up counts in a tree. The calling process needs the memory of all distinct pre-tokens,
    and finds the merges.
    """
    training = Training.of(
        vocab_size=vocab_size, preset=preset, special_tokens=special_tokens, alphabet=alphabet,
        byte_fallback=byte_fallback, character_coverage=character_coverage,
        required_characters=required_characters, unknown_token=unknown_token,
        min_frequency=min_frequency, max_token_length=max_token_length, tie_break=tie_break,
        max_pre_token=max_pre_token, max_text=max_text, progress=progress, backend=backend,
        cache_mb=cache_mb,
    )  # fmt: skip
    parts = _parts(source_items(source, size=TEXTS, include=include))
    with training.counting_bar() as bar:
        words = _words(connected(), Counting(training, field), parts, bar.update)
    return training.tokenizer(words)


class Counting(NamedTuple):
    """The objects that all tasks of a training share."""

    training: Training
    field: str


def count(shared: Shared[Counting], source: Source, names: list[str]) -> tuple[Counts, int]:
    """Return the words of `source` with their counts, and the size of its texts.

    `names` are the files of `source`.
    """
    size = 0

    def advance(more: int) -> None:
        nonlocal size
        size += more

    work = value_of(shared)
    with folder_of(shared, names):
        words = work.training.words(source, work.field, 1, advance)
    return words.take(), size


def add_up(shared: Shared[Counting], *counts: Counts) -> Counts:
    """Return each word of `counts` with the sum of its counts."""
    words = empty_words(choose_backend(value_of(shared).training.backend))
    for some in counts:
        words.add_words(dict(some))
    return words.take()


def _parts(
    items: Iterator[list[StrOrBytes] | Path],
) -> Iterator[list[StrOrBytes] | list[Path]]:
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


def _words(
    ray: Any,
    counting: Counting,
    parts: Iterator[list[StrOrBytes] | list[Path]],
    advance: Callable[[int], object],
) -> Words:
    """Count the words of all `parts` in tasks."""
    shared = share(ray, counting)
    counters = task(ray, count, num_cpus=1, num_returns=2)
    tree = _Tree(task(ray, add_up, num_cpus=1), shared)
    sizes: deque[Any] = deque()
    for part in parts:
        names = [name_of(item) for item in part if isinstance(item, os.PathLike)]
        counts, size = counters.remote(shared, part, names)
        tree.add(counts)
        sizes.append(size)
        # Wait in the order of the parts: the first error is raised, as in `bpe.train`.
        while len(sizes) > 2 * cpus(ray):
            advance(get(ray, sizes.popleft()))
    while sizes:
        advance(get(ray, sizes.popleft()))
    words = empty_words(choose_backend(counting.training.backend))
    words.add_words(dict(get(ray, tree.root())))
    return words


class _Tree:
    """Adds up counts, FAN_IN neighbors at a time.

    Only neighbors are added, in order, so the words keep the order of their first appearance.
    """

    def __init__(self, adder: Any, shared: Shared[Counting]) -> None:
        self._adder = adder
        self._shared = shared
        self._levels: list[list[Any]] = [[]]

    def add(self, counts: Any, level: int = 0) -> None:
        """Add the reference of the next counts of a level."""
        if level == len(self._levels):
            self._levels.append([])
        nodes = self._levels[level]
        nodes.append(counts)
        if len(nodes) == FAN_IN:
            self.add(self._adder.remote(self._shared, *nodes), level + 1)
            nodes.clear()

    def root(self) -> Any:
        """Return the reference of the sum of all counts."""
        # Higher levels have earlier counts, so they come first.
        nodes = [node for level in reversed(self._levels) for node in level]
        return self._adder.remote(self._shared, *nodes)
