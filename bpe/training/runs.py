"""Store words with their counts in files that are sorted by word, called runs.

A file has MAGIC, frames and an end. A frame has the size and the CRC-32 of a block, 4 bytes each in
little endian, and the block. The end is a frame of size 0. cpp/core/train/word_runs.hpp has the
format of blocks.
"""

from __future__ import annotations

import heapq
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from struct import Struct
from typing import NamedTuple, TypeAlias

from bpe.errors import CorpusError

MAGIC = b"pretok words 1\n"
BLOCK = 1 << 18
"""The size in bytes above which a block ends."""
_FRAME = Struct("<II")
Entry: TypeAlias = tuple[bytes, int, int]
"""A word, its count, and the position of its first occurrence."""
Write: TypeAlias = Callable[[bytes], object]


class RunSize(NamedTuple):
    """The number of words of a run, of their bytes, and the sum of count x size over all words."""

    words: int
    bytes: int
    total: int


@contextmanager
def run_file(path: Path) -> Iterator[Write]:
    """Yield a function that writes the next block to the file `path`, which is complete at the end.

    After an error there is no file.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb") as file:
            file.write(MAGIC)

            def write(block: bytes) -> None:
                file.write(_FRAME.pack(len(block), zlib.crc32(block)))
                file.write(block)

            yield write
            file.write(_FRAME.pack(0, 0))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def blocks_of(path: Path) -> Iterator[bytes]:
    """Yield the blocks of a run; raise CorpusError if the file is damaged."""
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise _damaged(path)
        while True:
            head = file.read(_FRAME.size)
            size, checksum = _FRAME.unpack(head) if len(head) == _FRAME.size else (0, 1)
            block = file.read(size)
            if len(block) < size or zlib.crc32(block) != checksum:
                raise _damaged(path)
            if size == 0:
                return
            yield block


def _damaged(path: Path) -> CorpusError:
    return CorpusError(
        f"{path}: expected counts of words, but the file is damaged; remove the folder, and train "
        "again"
    )


def write_words(words: Iterable[Entry], write: Write) -> RunSize:
    """Pass the blocks of `words`, which are sorted and distinct, to `write`; return their size."""
    block = bytearray()
    last = b""
    count = size = total = 0
    for word, number, first in words:
        shared = next(
            (at for at, (a, b) in enumerate(zip(last, word, strict=False)) if a != b),
            min(len(last), len(word)),
        )
        for value in (shared, len(word) - shared):
            _put(block, value)
        block += word[shared:]
        for value in (number, first):
            _put(block, value)
        last = word
        count, size, total = count + 1, size + len(word), total + number * len(word)
        if len(block) >= BLOCK:
            write(bytes(block))
            block, last = bytearray(), b""
    if block:
        write(bytes(block))
    return RunSize(count, size, total)


def _put(block: bytearray, number: int) -> None:
    """Append `number` as a varint."""
    while number >= 0x80:
        block.append(number & 0x7F | 0x80)
        number >>= 7
    block.append(number)


def words_of(blocks: Iterable[bytes], base: int = 0) -> Iterator[Entry]:
    """Yield the words of a run; `base` is added to their positions."""
    for block in blocks:
        at = 0
        word = b""

        def take() -> int:
            nonlocal at
            number = shift = 0
            while True:
                byte = block[at]  # noqa: B023
                at += 1
                number |= (byte & 0x7F) << shift
                if byte < 0x80:
                    return number
                shift += 7

        while at < len(block):
            shared = take()
            size = take()
            word = word[:shared] + block[at : at + size]
            at += size
            count = take()
            yield word, count, base + take()


def merge_runs(runs: Iterable[tuple[Iterable[bytes], int]], write: Write) -> RunSize:
    """Merge runs into one, which has each word once; each run has its blocks and its base.

    _core.merge_runs is the C++ version.
    """
    words = heapq.merge(*(words_of(blocks, base) for blocks, base in runs))
    return write_words(
        (
            (word, sum(count for _, count, _ in same), min(first for _, _, first in same))
            for word, same in ((key, list(some)) for key, some in groupby(words, itemgetter(0)))
        ),
        write,
    )
