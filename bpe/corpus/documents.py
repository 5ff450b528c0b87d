"""Read the documents of input files in batches, with bounded memory."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from bpe.corpus.lines import JsonLines, LineParser, TextLines
from bpe.corpus.shards import sha256_of
from bpe.corpus.threads import InOrder, read_ahead
from bpe.corpus.utf8_check import Utf8Check
from bpe.encoding.packed import PackedTexts
from bpe.errors import CorpusError, TextFileError
from bpe.inputs import PARQUET, TEXT, format_of
from bpe.parquet_input import null_message, rows_of_file
from bpe.text_files import Watch, blocks_of_file, blocks_of_lines, split_lines

BLOCK = 1 << 20
"""The size of a block of a file in bytes. Small blocks stay in the cache of a core."""
BATCH = 1 << 19
"""A batch of documents ends when it has this many bytes. Most blocks fill a batch."""
LONG = 8 << 20
"""Documents larger than about this many bytes are read in blocks."""
HASHED = 1 << 18
"""Another thread hashes blocks of this many bytes or more."""
OVERHEAD = 64
"""The bytes that a batch counts for each document in addition to its text."""


class Position(NamedTuple):
    """A place in the inputs: the index of a file, and the number of its lines before the place."""

    file: int = 0
    line: int = 0


START = Position()
NO_TEXTS = PackedTexts.of([])


class DocumentPart(NamedTuple):
    """A part of a long document. It begins at byte `start` of the document.

    `is_held_out` is true if the document belongs to the split for validation. `is_whole` is false
    if the document is damaged; then all its parts must be dropped.
    """

    start: int
    is_last: bool
    is_held_out: bool = False
    is_whole: bool = True


class DocumentRun(NamedTuple):
    """Consecutive documents of a file.

    `lines` has the number of the line of each document, counted from 1, or of its row in a Parquet
    file. `next_line` is the number of lines from the start of the file to the end of the run.
    `skipped` has a message for each damaged document. If `blocks` is not None, the run is one long
    document, and `texts` is empty; take all blocks before the next run.
    """

    texts: PackedTexts
    lines: Sequence[int]
    next_line: int
    skipped: Sequence[str] = ()
    blocks: Iterator[bytes] | None = None


@dataclass
class Batch:
    """Documents, and what was read from files since the previous batch."""

    texts: PackedTexts = NO_TEXTS
    lines: list[tuple[int, Sequence[int]]] = field(default_factory=list)
    """The index of a file and the lines of its documents in the batch, in order."""
    skipped: list[str] = field(default_factory=list)
    finished: list[dict[str, Any]] = field(default_factory=list)
    """The path, the size and the sha256 of each file that was read to its end."""
    position: Position = START
    """The end of the batch."""
    blocks: Iterator[bytes] | None = None
    """The only document, if it is long; `texts` is then empty."""
    part: DocumentPart | None = None
    """Not None if the only text is a part of a long document."""
    read: int = 0
    """The number of bytes that were read from files since the previous batch."""

    def origin(self, index: int) -> Position:
        """Return the file and the line of a document; the line counts from 1."""
        for file, lines in self.lines:
            if index < len(lines):
                return Position(file, lines[index])
            index -= len(lines)
        raise IndexError


class DocumentOptions(NamedTuple):
    """The options for reading; `bpe.corpus.tokenize` explains its arguments of these names."""

    field: str
    lines: bool
    skip_bad: bool
    max_text: int


def read_batches(
    files: Sequence[str],
    options: DocumentOptions,
    start: Position = START,
    advance: Callable[[int], object] = lambda size: None,
) -> Iterator[Batch]:
    """Yield the documents of `files` from `start` on.

    The last batch may have no documents. Passes the number of bytes that are read from a file to
    `advance`. Raises OSError. Without `options.skip_bad`, raises TextFileError for a damaged
    document.
    """
    with ThreadPoolExecutor(1) as pool:
        yield from _batches(files, options, start, advance, InOrder(pool))


def _batches(
    files: Sequence[str],
    options: DocumentOptions,
    start: Position,
    advance: Callable[[int], object],
    hashing: InOrder,
) -> Iterator[Batch]:
    """Do the work of `read_batches`; hash the files in the thread of `hashing`."""
    batch = Batch(position=start)
    texts: list[PackedTexts] = []
    size = 0
    for index in range(start.file, len(files)):
        begin = start.line if index == start.file else 0
        watch = _Hash(advance, hashing)
        for run in _runs(files[index], options, begin, watch):
            if run.blocks is not None and any(map(len, texts)):
                batch.texts = PackedTexts.joined(texts)
                yield batch
                batch, texts, size = Batch(), [], 0
            batch.position = Position(index, run.next_line)
            texts.append(run.texts)
            batch.lines.append((index, run.lines))
            batch.skipped += run.skipped
            batch.blocks = run.blocks
            size += run.texts.size + OVERHEAD * (len(run.texts) + len(run.skipped))
            if size >= BATCH or run.blocks is not None:
                batch.texts = PackedTexts.joined(texts)
                yield batch
                batch, texts, size = Batch(position=batch.position), [], 0
        batch.position = Position(index + 1)
        batch.finished.append(watch.description(files[index]))
    batch.texts = PackedTexts.joined(texts)
    yield batch


class _Hash:
    """Hashes the bytes of a file as they are read, large blocks in another thread."""

    def __init__(self, advance: Callable[[int], object], hashing: InOrder) -> None:
        self._advance = advance
        self._hashing = hashing
        self._digest = hashlib.sha256()
        self._size = 0

    def __call__(self, data: bytes) -> None:
        if len(data) >= HASHED:
            self._hashing.call(self._digest.update, data)
        else:
            self._hashing.wait()
            self._digest.update(data)
        self._size += len(data)
        self._advance(len(data))

    def description(self, name: str) -> dict[str, Any]:
        """Return the path, the size and the sha256 of the file."""
        self._hashing.wait()
        size = os.path.getsize(name)
        # The digest has only the bytes that this object was given. Reading may stop early in a
        # damaged file, and pyarrow reads a Parquet file by itself. The file is then hashed again.
        whole = size == self._size
        return {
            "path": name,
            "bytes": size,
            "sha256": self._digest.hexdigest() if whole else sha256_of(name),
        }


def _runs(name: str, options: DocumentOptions, begin: int, watch: Watch) -> Iterator[DocumentRun]:
    """Yield the documents of a file, without those of its first `begin` lines."""
    format = format_of(name)
    if format == TEXT and not options.lines:
        runs = _whole_text(name, options, begin, watch)
    elif format == PARQUET:
        runs = _rows(name, options, begin, watch)
    else:
        parser: LineParser = (
            TextLines() if format == TEXT else JsonLines(options.field, options.max_text)
        )
        runs = _lines(name, options, begin, watch, parser)
    position = begin
    try:
        for run in runs:
            yield run
            position = run.next_line
    except TextFileError as error:
        # The rest of the file cannot be read, so with `skip_bad` its documents end here.
        message = str(error)
        if position and message.startswith(f"{name}: "):
            message = f"{name}, after line {position}{message[len(name) :]}"
        if not options.skip_bad:
            raise TextFileError(message) from None
        yield DocumentRun(NO_TEXTS, [], position, [message])


def _whole_text(
    name: str, options: DocumentOptions, begin: int, watch: Watch
) -> Iterator[DocumentRun]:
    """Yield a file of text, which is one document on line 1."""
    if begin:
        _check_lines(name, 1, begin)
        return
    blocks = _checked_blocks(name, watch)
    held: list[bytes] = []
    size = 0
    # The parts of a long document can be encoded while the file is read.
    is_long = os.path.getsize(name) >= LONG
    for block in blocks:
        held.append(block)
        size += len(block)
        if is_long or size >= LONG:
            yield DocumentRun(NO_TEXTS, [1], 1, blocks=chain(_taken(held), blocks))
            return
    yield DocumentRun(PackedTexts.of([b"".join(held)]), [1], 1)


def _taken(held: list[bytes]) -> Iterator[bytes]:
    """Yield the blocks of `held`, and free each of them."""
    held.reverse()
    while held:
        yield held.pop()


def _blocks(name: str, watch: Watch) -> Generator[bytes]:
    """Yield the unpacked blocks of a file; another thread unpacks the next block."""
    blocks = blocks_of_file(name, BLOCK, watch)
    if not name.lower().endswith((".gz", ".zst")):
        yield from blocks
        return
    with ThreadPoolExecutor(1) as unpacker:
        yield from read_ahead(unpacker, blocks)


def _checked_blocks(name: str, watch: Watch) -> Iterator[bytes]:
    """Yield the blocks of a file; raise TextFileError if they are not UTF-8."""
    check = Utf8Check()
    with closing(_blocks(name, watch)) as blocks:
        for block in blocks:
            if not check.add(block):
                break
            yield block
    if not check.is_complete:
        _raise_not_utf8(name)


def _raise_not_utf8(name: str) -> None:
    """Raise TextFileError with the place of the first byte of the file `name` that is not UTF-8."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    line = size = 0  # the number of line feeds and of bytes before the block
    for block in chain(blocks_of_file(name), [b""]):
        # The empty block at the end finds an incomplete code point.
        try:
            decode(block, not block)
        except UnicodeDecodeError as error:
            # error.object ends with the block. Before it, it may have bytes of an incomplete code
            # point from the previous block.
            start = error.start - (len(error.object) - len(block))
            line += block.count(b"\n", 0, max(0, start))
            raise TextFileError(
                f"{name}, line {line + 1}: byte 0x{error.object[error.start]:02x} at offset "
                f"{size + start} is not UTF-8; convert the file to UTF-8, or pass skip_bad=True to "
                "leave this document out"
            ) from None
        line += block.count(b"\n")
        size += len(block)
    raise TextFileError(f"{name}: the file changed while it was read; tokenize it again")


def _lines(
    name: str, options: DocumentOptions, begin: int, watch: Watch, parser: LineParser
) -> Iterator[DocumentRun]:
    """Yield the documents in the lines of a file."""
    with closing(_blocks(name, watch)) as blocks:
        yield from _lines_of_blocks(name, options, begin, blocks, parser)


def _lines_of_blocks(
    name: str, options: DocumentOptions, begin: int, blocks: Iterator[bytes], parser: LineParser
) -> Iterator[DocumentRun]:
    """Yield the documents in the lines of a file, which has these `blocks`."""
    done = 0  # the number of lines before the block
    for block in blocks_of_lines(blocks, LONG):
        if not isinstance(block, bytes):
            done += 1
            if done > begin:
                text = parser.long_text(block, f"{name}, line {done}")
                yield DocumentRun(NO_TEXTS, [done], done, blocks=text)
            continue
        if done < begin:
            # `known` has the lines of the block that the caller does not want.
            lines = split_lines(block)
            known, done = lines[: begin - done], min(begin, done + len(lines))
            if len(known) == len(lines):
                continue
            block = b"".join(line + b"\n" for line in lines[len(known) :])
        # `is_known` says for each line whether `parser.texts` could parse it.
        texts, is_known = parser.texts(block)
        end = done + len(texts)
        if is_known.all():
            yield DocumentRun(texts, range(done + 1, end + 1), end)
        else:
            found: list[bytes | None] = [
                text if is_read else None for text, is_read in zip(texts, is_known, strict=True)
            ]
            yield _one_by_one(name, options, parser, done + 1, found, split_lines(block))
        done = end
    _check_lines(name, done, begin)


def _check_lines(name: str, lines: int, begin: int) -> None:
    """Raise CorpusError if the file `name` has fewer lines than an earlier call has read."""
    if lines < begin:
        raise CorpusError(
            f"{name}: the file has {lines} lines, but by the manifest an earlier call has read "
            f"{begin}; one of them has changed: delete the folder of the corpus and begin again"
        )


def _one_by_one(
    name: str,
    options: DocumentOptions,
    parser: LineParser,
    first: int,
    texts: list[bytes | None],
    lines: list[bytes],
) -> DocumentRun:
    """Return the run of `lines`, the first of which has the number `first`.

    `texts` has an item for each line: its text, or None if `parser` still has to read the line.
    """
    found: list[bytes] = []
    numbers: list[int] = []
    skipped: list[str] = []
    for number, (text, line) in enumerate(zip(texts, lines, strict=True), first):
        try:
            if text is None:
                text = parser.text(line, f"{name}, line {number}")
        except TextFileError as error:
            if not options.skip_bad:
                raise
            skipped.append(str(error))
        else:
            if text is not None:
                found.append(text)
                numbers.append(number)
    return DocumentRun(PackedTexts.of(found), numbers, first + len(lines) - 1, skipped)


def _rows(name: str, options: DocumentOptions, begin: int, watch: Watch) -> Iterator[DocumentRun]:
    """Yield the rows of a Parquet file."""
    first = 1  # the number of the first of `texts`
    for texts, is_null in rows_of_file(name, options.field, watch):
        last = first + len(texts) - 1
        # The first `known` rows are among the first `begin` rows, which the caller does not want.
        known = max(0, min(len(texts), begin - first + 1))
        nulls = [first + int(index) for index in np.flatnonzero(is_null) if index >= known]
        if nulls and not options.skip_bad:
            raise TextFileError(null_message(name, nulls[0], options.field))
        rest = texts.after(known)
        lines: Sequence[int] = range(first + known, last + 1)
        if nulls:
            found = zip(lines, rest, is_null[known:], strict=True)
            pairs = [(line, text) for line, text, is_bad in found if not is_bad]
            lines = [line for line, _ in pairs]
            rest = PackedTexts.of([text for _, text in pairs])
        skipped = [null_message(name, number, options.field) for number in nulls]
        yield DocumentRun(rest, lines, max(last, begin), skipped)
        first = last + 1
    _check_lines(name, first - 1, begin)
