"""Train within a bound on memory, and go on after the process was killed."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from bpe.encoding.utf8 import StrOrBytes
from bpe.errors import UnsupportedError
from bpe.training import corpus
from bpe.training.corpus import TrainingSource, name_of, source_items, texts_of_file
from bpe.training.counting import TextCounter, Words, empty_words
from bpe.training.limits import TooLongError
from bpe.training.runs import RunSize, blocks_of, run_file, words_of
from bpe.training.work_folder import WorkFolder, identity_of, without_start
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer

MB = 10**6
MIN_ROOM = 64 * MB
"""The memory that training needs besides that of the process."""
RESERVE = 32 * MB
"""Memory for texts, blocks and buffers."""
COMMIT = 4 << 30
"""The number of bytes of text after which counts are written even if they fit in memory."""
MAX_SHARE = 0.9
"""The share of the bound above which the words of a trainer move to a file."""
PART = 4 << 20
"""The bytes of a block that are removed from memory at once."""
STATM = "/proc/self/statm"
IS_MEASURED = os.path.exists(STATM)
"""True if the system says how much memory the process takes now, not only the highest number."""
Advance = Callable[[int], object]


class Bound(NamedTuple):
    """The arguments memory_mb and work_dir of `bpe.train`."""

    memory_mb: int | None
    folder: Path | None

    @classmethod
    def of(cls, memory_mb: int | None, work_dir: str | os.PathLike[str] | None) -> Bound | None:
        """Return the bound, or None if neither argument is given; check memory_mb.

        Raises ValueError if the process already has too much memory.
        """
        if memory_mb is None and work_dir is None:
            return None
        if memory_mb is not None and (type(memory_mb) is not int or memory_mb < 1):
            raise ValueError(f"memory_mb={memory_mb!r:.40}; expected None or an int of at least 1")
        if not isinstance(work_dir, (str, os.PathLike, type(None))):
            raise TypeError(
                f"work_dir is of type {type(work_dir).__name__}; expected None, a str or a path"
            )
        bound = cls(memory_mb, None if work_dir is None else Path(work_dir))
        bound.room(MIN_ROOM, "training needs at least")
        return bound

    def room(self, needed: int, why: str, taken: int | None = None) -> int:
        """Return the memory that the process may still take, in bytes.

        It takes `taken` bytes, or None to measure them. Raises ValueError if the rest is less than
        `needed`; `why` comes before the needed number.
        """
        if self.memory_mb is None:
            return sys.maxsize
        taken = resident() if taken is None else taken
        room = self.memory_mb * MB - taken
        if room < needed:
            raise ValueError(
                f"memory_mb={self.memory_mb}; {why} {-(-(needed + taken) // MB)} MB here: the "
                f"process already takes {-(-taken // MB)} MB, and {-(-needed // MB)} MB come on "
                "top; pass a larger memory_mb="
            )
        return room

    def lists(self, folder: WorkFolder) -> MappedFile | None:
        """Return the memory for lists of a trainer in C++; None for ordinary memory."""
        return None if self.memory_mb is None else MappedFile(folder.path, self)

    @contextmanager
    def work_folder(
        self, stage: str, arguments: Callable[[], dict[str, object]]
    ) -> Iterator[WorkFolder]:
        """Yield the folder for a stage of training: that of the caller, or a temporary one."""
        if self.folder is None:
            with tempfile.TemporaryDirectory(prefix="pretok-train-") as name:
                yield WorkFolder(Path(name) / stage, {})
            return
        from bpe.corpus.lock import locked

        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            yield WorkFolder(self.folder / stage, arguments())


def resident() -> int:
    """Return the memory of this process in bytes, or 0 if the system does not say it."""
    try:
        with open(STATM, "rb", buffering=0) as file:
            return resident_pages(file)[0] * mmap.PAGESIZE
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return 0
    # The highest memory so far, which is not lower.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_pages(statm: BinaryIO) -> tuple[int, int]:
    """Return the numbers of pages in memory, of all and of files; `statm` is the file STATM."""
    statm.seek(0)
    _, all, of_files, *_ = statm.read(64).split()
    return int(all), int(of_files)


def split_name(pre_tokenizer: object) -> str:
    """Return a text that identifies a pre-tokenizer; raise UnsupportedError for a custom one."""
    if not isinstance(pre_tokenizer, PreTokenizer):
        raise UnsupportedError(
            f"work_dir= needs a preset, which can be compared with that of an earlier run, got "
            f"{type(pre_tokenizer).__name__}; omit work_dir="
        )
    shown = repr(pre_tokenizer.preset)
    return f"{pre_tokenizer.preset.name} {sha256(shown.encode()).hexdigest()}"


class Counting(NamedTuple):
    """The source of texts, the counter of their pre-tokens, and the bound of memory."""

    source: TrainingSource
    field: str
    include: Any
    max_text: int
    backend: BackendName
    counter: TextCounter
    bound: Bound

    def run(self, folder: WorkFolder, advance: Advance) -> None:
        """Count the pre-tokens of the source to `folder`, from where an earlier run stopped."""
        spiller = _Spiller(self, folder, advance)
        inputs: list[list[Any]] = []
        items = source_items(self.source, corpus.BLOCK, self.include, self.backend)
        name = None
        try:
            for index, item in enumerate(items):
                name = None if isinstance(item, list) else name_of(item)
                identity = identity_of(item, checksum=self.bound.folder is not None)
                part = 0
                if index < len(folder.done):
                    folder.check_input(index, identity)
                    inputs.append(identity)
                    advance(sum(map(len, item)) if isinstance(item, list) else identity[1])
                    continue
                if folder.size is not None:
                    folder.check_end(index + 1)
                if index == len(folder.done) and folder.part:
                    folder.check_input(index, identity)
                    part = folder.part
                spiller.begin(inputs, identity, part)
                if not isinstance(item, list):
                    self._count_file(name_of(item), part, spiller)
                elif not part:
                    spiller.add(item)
                inputs.append(identity)
                spiller.begin(inputs, None, 0)
        except TooLongError as error:
            raise error.at(name) from None
        folder.check_end(len(inputs))
        if folder.size is None:
            spiller.begin(inputs, None, 0)
            spiller.finish()
            folder.finish(self.backend)

    def _count_file(self, name: str, part: int, spiller: _Spiller) -> None:
        for _, texts in texts_of_file(name, self.field, self.max_text, self.backend):
            if isinstance(texts, list):
                if part:
                    part -= 1
                else:
                    spiller.add(texts)
            else:
                for size, is_cut in self.counter.parts(without_start(texts, part)):
                    spiller.counted(size, size if is_cut else None)


class _Spiller:
    """Writes the counts to runs when they take too much memory."""

    def __init__(self, counting: Counting, folder: WorkFolder, advance: Advance) -> None:
        room = counting.bound.room(MIN_ROOM, "counting needs at least")
        self._limit = room - RESERVE
        self._counting = counting
        self._folder = folder
        self._advance = advance
        self._size = 0  # of the texts since the last run
        counting.counter.limit_batch(self._limit)

    def begin(self, inputs: list[list[Any]], identity: list[Any] | None, part: int) -> None:
        """Begin an input, of which `part` is counted; all `inputs` before it are counted."""
        self._inputs = inputs
        self._identity = identity
        self._part: int | None = part
        if identity is None and self._folder.is_pending:
            self._spill()  # training can go on from here, but not from the last run

    def add(self, texts: list[StrOrBytes]) -> None:
        """Count a list of texts, which is one part of an input."""
        self.counted(self._counting.counter.add(texts), 1)

    def counted(self, size: int, part: int | None) -> None:
        """Note that text of `size` was counted.

        `part` is added to the counted part of the input; None if training cannot go on from here.
        """
        self._advance(size)
        self._part = None if part is None or self._part is None else self._part + part
        self._size += size
        if self._size >= COMMIT or self._counting.counter.words.memory > self._limit:
            self._spill()

    def _spill(self) -> None:
        words = self._counting.counter.finish()
        number, path = self._folder.new_run()
        with run_file(path) as write:
            size = RunSize(*words.spill(write))
        self._folder.add_run(number, size)
        self._size = 0
        if self._part is not None:
            self._folder.commit(self._inputs, self._identity, self._part, self._counting.backend)

    def finish(self) -> None:
        """Write the last run."""
        self._spill()


class RunWords:
    """The words of a finished WorkFolder."""

    def __init__(self, folder: WorkFolder) -> None:
        self._folder = folder

    def blocks(self) -> Iterator[bytes]:
        """Yield the blocks of the run."""
        return blocks_of(self._folder.words)

    def take(self) -> list[tuple[bytes, int]]:
        """Return each word with its count, in the order of first appearance."""
        entries = sorted(words_of(self.blocks()), key=lambda entry: entry[2])
        return [(word, count) for word, count, _ in entries]

    def batches(self) -> Iterator[list[tuple[bytes, int]]]:
        """Yield the words in batches, sorted by their bytes."""
        for block in self.blocks():
            yield [(word, count) for word, count, _ in words_of([block])]

    def words(self, backend: BackendName) -> Words:
        """Return the words as a WordCounts."""
        words = empty_words(backend)
        words.add_words(dict(self.take()))
        return words

    def check(self, bound: Bound, byte: int, word: int, what: str) -> None:
        """Raise ValueError if the words do not fit in memory.

        They need `byte` bytes for each of their bytes, and `word` for each word.
        """
        size = self._folder.size
        assert size is not None, "the folder is finished"
        bound.room(
            size.bytes * byte + size.words * word + MIN_ROOM,
            f"the {size.words:,} distinct pre-tokens have {size.bytes:,} bytes, which {what} "
            "holds in memory; it needs about",
        )


class MappedFile:
    """Blocks of memory in a file without a name, for pretok._core.Trainer.

    On Linux, the blocks leave the memory of the process when it nears the bound. Elsewhere the
    system chooses which blocks are in memory.
    """

    def __init__(self, folder: Path, bound: Bound) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, prefix=".", buffering=0)  # noqa: SIM115
        self._bound = bound
        self._limit = sys.maxsize if bound.memory_mb is None else bound.memory_mb * MB - MIN_ROOM
        self._size = 0
        self._parts: deque[tuple[mmap.mmap, int, int]] = deque()
        """The parts of all blocks as (block, start, size), the next one to remove first."""
        # Reading an open file is ten times faster than opening it for each check.
        self._statm = open(STATM, "rb", buffering=0) if IS_MEASURED else None  # noqa: SIM115
        self._other_files = 0 if self._statm is None else resident_pages(self._statm)[1]

    def block(self, size: int) -> mmap.mmap:
        """Return a new block of `size` bytes or more. Raises OSError if the disk is full."""
        size = -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        # Writing to a mapped page must not be what fills the disk, because this is no exception.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._file.fileno(), self._size, size)
        else:
            for start in range(0, size, MB):
                self._file.write(bytes(min(MB, size - start)))
        block = mmap.mmap(self._file.fileno(), size, offset=self._size)
        self._size += size
        self._parts += [(block, start, min(PART, size - start)) for start in range(0, size, PART)]
        return block

    def trim(self, have_moved: bool) -> bool:
        """Remove parts of blocks from the memory of the process if it takes too much.

        Parts are removed in turn. Returns True if the rest takes too much, so that the words should
        move to the file, or if the system cannot measure the rest. If the words have moved, raises
        ValueError if the rest leaves little memory for blocks.
        """
        if self._statm is None:
            return True
        pages, of_files = resident_pages(self._statm)
        if pages * mmap.PAGESIZE <= self._limit:
            return False
        rest = (pages - of_files + self._other_files) * mmap.PAGESIZE
        if have_moved:
            why = "merging takes more; training needs more than"
            self._bound.room(MIN_ROOM + RESERVE, why, rest)
        for _ in range(len(self._parts)):
            block, start, size = self._parts[0]
            self._parts.rotate(-1)
            block.madvise(mmap.MADV_DONTNEED, start, size)
            if resident_pages(self._statm)[0] * mmap.PAGESIZE <= self._limit - 2 * PART:
                break
        return rest > MAX_SHARE * self._limit

    def close(self) -> None:
        """Remove the file when its blocks are no longer in use."""
        self._parts.clear()
        self._file.close()
        if self._statm is not None:
            self._statm.close()
