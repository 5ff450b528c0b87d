"""Read files of texts in blocks and lines: plain, .gz and .zst files, and JSON lines."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO, Any, NoReturn, TypeAlias, cast

from bpe.errors import TextFileError

BLOCK = 1 << 20
"""The size of a block of a file in bytes."""
PACKED_BLOCK = 1 << 18
"""The size of a block of a .zst file in bytes, before it is unpacked."""
PACKED_STEP = 1 << 12
"""This many bytes of a .zst file are unpacked at a time. They expand to 128 MB at most."""
PACKED = ("", ".gz", ".zst")
"""The suffixes of compressed files, and "" for files that are not compressed."""

Watch: TypeAlias = Callable[[bytes], object]
"""A function that is called with the bytes that are read from a file, before they are unpacked."""


def blocks_of_file(name: str, size: int = BLOCK, watch: Watch | None = None) -> Iterator[bytes]:
    """Yield the unpacked content of a file in blocks of about `size` bytes.

    Raises TextFileError if the file is truncated or damaged.
    """
    try:
        with io.FileIO(name) if watch is None else _WatchedFile(name, watch) as file:
            if name.lower().endswith(".zst"):
                yield from _blocks_of_zstandard(name, file, size)
            else:
                packed = name.lower().endswith(".gz")
                stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file) if packed else file)
                while block := stream.read(size):
                    yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        _raise_damaged(name, error)


def cut_parts(
    blocks: Iterable[bytes],
    safe_cut: Callable[[bytes], int],
    smallest: int,
    most: int,
    too_long: Callable[[], Exception],
) -> Iterator[tuple[bytes, bool]]:
    """Yield one text in parts that end at safe cuts, and whether a part is the last one.

    `safe_cut(text)` returns the last offset at which `text` may be cut, or 0 if there is none. Each
    part except the last has about `smallest` bytes or more. Raises too_long() if more than `most`
    bytes have no safe cut. Takes linear time.
    """
    held: list[bytes] = []
    size = 0
    enough = smallest
    for block in blocks:
        held.append(block)
        size += len(block)
        if size < enough:
            continue
        text = b"".join(held)
        cut = safe_cut(text)
        if cut:
            yield text[:cut], False
        held, size = [text[cut:]], size - cut
        if size > most:
            raise too_long()
        # Search again only when the size has doubled, so that the total time stays linear.
        enough = max(smallest, 2 * size)
    yield b"".join(held), True


def joined(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Join `blocks` to blocks of at least `size` bytes; the last block may be smaller."""
    held: list[bytes] = []
    held_size = 0
    for block in blocks:
        held.append(block)
        held_size += len(block)
        if held_size >= size:
            yield b"".join(held)
            held, held_size = [], 0
    if held:
        yield b"".join(held)


class _WatchedFile(io.FileIO):
    """Reads a file, and passes all bytes that it reads to the function `watch`."""

    def __init__(self, name: str, watch: Watch) -> None:
        super().__init__(name)
        self._watch = watch

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes of the file."""
        data = super().read(size)
        self._watch(data)
        return data


class LongLine(Iterator[bytes]):
    """Iterates over the parts of a line that is not in memory as a whole, without its LF."""

    def __init__(self, held: list[bytes], blocks: Iterator[bytes]) -> None:
        self._parts: Iterator[bytes] = chain([b"".join(held)], blocks)
        held.clear()
        self.after = b""
        """The bytes after the line in its last block."""

    def __next__(self) -> bytes:
        part = next(self._parts)
        end = part.find(b"\n")
        if end >= 0:
            self._parts = iter(())
            self.after = part[end + 1 :]
        return part if end < 0 else part[:end]


def blocks_of_lines(blocks: Iterator[bytes], long_line: int) -> Iterator[bytes | LongLine]:
    """Yield the content of a file, the `blocks`, in blocks of whole lines.

    Each line has its line feed, except perhaps the last line of the file. If more than `long_line`
    bytes of a line are read before its end, the line is yielded as a LongLine. Read it before the
    next item, or its parts are lost.
    """
    held: list[bytes] = []  # the parts of the current line so far
    held_size = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*held, memoryview(block)[:end]])
            held, held_size = [], 0
        held.append(block[end:])
        held_size += len(block) - end
        if held_size > long_line:
            line = LongLine(held, blocks)
            yield line
            for _ in line:
                pass  # skip the parts that the caller has not read
            end = line.after.rfind(b"\n") + 1
            if end:
                yield line.after[:end]
            held, held_size = [line.after[end:]], len(line.after) - end
    if held_size:
        yield b"".join(held)


def split_lines(block: bytes) -> list[bytes]:
    """Return the lines of a block of `blocks_of_lines`, without their line feeds."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def lines_of_file(name: str, max_line: int, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the lines of a file, without the line feeds.

    Raises TextFileError for a line of more than `max_line` bytes.
    """
    done = 0
    for block in blocks_of_lines(blocks_of_file(name, size), max_line):
        lines = split_lines(block) if isinstance(block, bytes) else []
        for line in lines:
            _check_line(len(line), name, done + 1, max_line)
            yield line
            done += 1
        if not isinstance(block, bytes):  # a LongLine has more than `max_line` bytes
            _check_line(max_line + 1, name, done + 1, max_line)


def _check_line(size: int, name: str, number: int, max_line: int) -> None:
    if size > max_line:
        raise TextFileError(
            f"{name}, line {number}: the line has more than {max_line} bytes; put one object on "
            "each line, split its text, or pass a larger max_text="
        )


def text_of_line(line: bytes, field: str, where: str) -> str:
    """Return the text under `field` of a line of JSON; raise TextFileError, which names `where`."""
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise TextFileError(
            f"{where}: not JSON in UTF-8 ({error}); expected an object with a text under {field!r}"
        ) from None
    if not isinstance(row, dict):
        raise TextFileError(
            f"{where}: a JSON {type(row).__name__}; expected an object with a text under {field!r}"
        )
    if field not in row:
        raise TextFileError(
            f"{where}: no {field!r} among the keys {sorted(row)!r:.200}; pass field= with the "
            "key of the text"
        )
    text = row[field]
    if not isinstance(text, str):
        raise TextFileError(
            f"{where}: {field!r} is of type {type(text).__name__}; expected a string"
        )
    return text


def _raise_damaged(name: str, error: object) -> NoReturn:
    raise TextFileError(
        f"{name}: truncated or damaged ({error}); get the file again, or unpack the intact part"
    ) from None


def _blocks_of_zstandard(name: str, file: IO[bytes], size: int) -> Iterator[bytes]:
    try:
        from compression import zstd
    except ImportError:
        yield from joined(_blocks_by_package(name, file), size)
        return
    try:
        with zstd.open(file, "rb") as stream:
            while block := stream.read(size):
                yield block
    except zstd.ZstdError as error:
        _raise_damaged(name, error)


def _blocks_by_package(name: str, file: IO[bytes]) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise ModuleNotFoundError(
            f"{name}: reading .zst needs Python 3.14 or the package zstandard; "
            "install it with `pip install zstandard`, or unpack the file"
        ) from None
    unpacker: Any = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    frame = None  # decompressor of the current frame
    while data := file.read(PACKED_BLOCK):
        # Feed small steps, because 4 bytes can expand to 128 KB, and `decompress` has no limit for
        # its output.
        for at in range(0, len(data), PACKED_STEP):
            packed = data[at : at + PACKED_STEP]
            while packed:
                frame = frame or unpacker.decompressobj()
                try:
                    block = frame.decompress(packed)
                except zstandard.ZstdError as error:
                    _raise_damaged(name, error)
                packed = b""
                if frame.eof:
                    packed, frame = frame.unused_data, None
                if block:
                    yield block
    if frame is not None:
        _raise_damaged(name, "it ends within a frame")
