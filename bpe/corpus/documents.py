"""Read the documents of input files in batches, with bounded memory."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from bpe.corpus.lines import JsonLines, LineParser, TextLines, not_utf8
from bpe.corpus.options import Options
from bpe.corpus.shards import sha256_of
from bpe.corpus.threads import InOrder, read_ahead
from bpe.corpus.utf8_check import Utf8Check
from bpe.encoding.packed import PackedTexts
from bpe.errors import CorpusError, TextFileError
from bpe.inputs import PARQUET, TEXT, format_of
from bpe.parquet_input import null_message, rows_of_file
from bpe.text_files import PACKED, Watch, blocks_of_file, blocks_of_lines, split_lines

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


def read_batches(
    files: Sequence[str],
    options: Options,
    start: Position = START,
    advance: Callable[[int], object] = lambda size: None,
) -> Iterator[Batch]:
    """Yield the documents of `files` from `start` on.

    The last batch may have no documents. Passes the number of bytes that are read from a file to
    `advance`. Raises OSError. Without `options.skip_bad`, raises TextFileError for a damaged
    document.
    """
    with ThreadPoolExecutor(1) as pool:
        hashes = ((name, _Hash(advance, InOrder(pool))) for name in files[start.file :])
        yield from _batches(hashes, options, start)


def _batches(
    files: Iterable[tuple[str, _Hash]], options: Options, start: Position
) -> Iterator[Batch]:
    """Do the work of `read_batches`; `files` begins with the file of `start`."""
    batch = Batch(position=start)
    texts: list[PackedTexts] = []
    size = 0
    for index, (name, watch) in enumerate(files, start.file):
        begin = start.line if index == start.file else 0
        for run in _File(name, options, begin, watch).runs():
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
        batch.finished.append(watch.description(name))
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


class _File:
    """Reads the documents of a file, without those of its first `begin` lines."""

    def __init__(self, name: str, options: Options, begin: int, watch: Watch) -> None:
        self._name = name
        self._options = options
        self._begin = begin
        self._watch = watch

    def runs(self) -> Iterator[DocumentRun]:
        """Yield the documents."""
        format = format_of(self._name)
        if format == TEXT and not self._options.lines:
            runs = self._whole_text()
        elif format == PARQUET:
            runs = self._rows()
        elif format == TEXT:
            runs = self._lines(TextLines())
        else:
            runs = self._lines(JsonLines(self._options.field, self._options.max_text))
        position = self._begin
        try:
            for run in runs:
                yield run
                position = run.next_line
        except TextFileError as error:
            # The rest of the file cannot be read, so with `skip_bad` its documents end here.
            message = str(error)
            if position and message.startswith(f"{self._name}: "):
                message = f"{self._name}, after line {position}{message[len(self._name) :]}"
            if not self._options.skip_bad:
                raise TextFileError(message) from None
            yield DocumentRun(NO_TEXTS, [], position, [message])

    def _whole_text(self) -> Iterator[DocumentRun]:
        """Yield a file of text, which is one document on line 1."""
        if self._begin:
            self._check_lines(1)
            return
        blocks = self._checked_blocks()
        held: list[bytes] = []
        size = 0
        # The parts of a long document can be encoded while the file is read.
        is_long = os.path.getsize(self._name) >= LONG
        for block in blocks:
            held.append(block)
            size += len(block)
            if is_long or size >= LONG:
                yield DocumentRun(NO_TEXTS, [1], 1, blocks=chain(_taken(held), blocks))
                return
        yield DocumentRun(PackedTexts.of([b"".join(held)]), [1], 1)

    def _blocks(self) -> Generator[bytes]:
        """Yield the unpacked blocks of the file; another thread unpacks the next block."""
        blocks = blocks_of_file(self._name, BLOCK, self._watch)
        if not self._name.lower().endswith(PACKED[1:]):
            yield from blocks
            return
        with ThreadPoolExecutor(1) as unpacker:
            yield from read_ahead(unpacker, blocks)

    def _checked_blocks(self) -> Iterator[bytes]:
        """Yield the blocks of the file; raise TextFileError if they are not UTF-8."""
        check = Utf8Check()
        with closing(self._blocks()) as blocks:
            for block in blocks:
                if not check.add(block):
                    break
                yield block
        if not check.is_complete:
            _raise_not_utf8(self._name)

    def _lines(self, parser: LineParser) -> Iterator[DocumentRun]:
        """Yield the documents in the lines of the file."""
        done = 0  # the number of lines before the block
        with closing(self._blocks()) as blocks:
            for block in blocks_of_lines(blocks, LONG):
                if not isinstance(block, bytes):
                    done += 1
                    if done > self._begin:
                        text = parser.long_text(block, f"{self._name}, line {done}")
                        yield DocumentRun(NO_TEXTS, [done], done, blocks=text)
                    continue
                if done < self._begin:
                    # `known` has the lines of the block that the caller does not want.
                    lines = split_lines(block)
                    known = lines[: self._begin - done]
                    done += len(known)
                    if len(known) == len(lines):
                        continue
                    block = b"".join(line + b"\n" for line in lines[len(known) :])
                run = self._run(parser, done, block)
                yield run
                done = run.next_line
        self._check_lines(done)

    def _run(self, parser: LineParser, done: int, block: bytes) -> DocumentRun:
        """Return the run of the lines in `block`, which follow the first `done` lines."""
        # `is_known` says for each line whether `parser.texts` could parse it.
        texts, is_known = parser.texts(block)
        end = done + len(texts)
        if is_known.all():
            return DocumentRun(texts, range(done + 1, end + 1), end)
        found: dict[int, bytes] = {}
        skipped: list[str] = []
        rows = zip(texts, is_known, split_lines(block), strict=True)
        for number, (text, is_read, line) in enumerate(rows, done + 1):
            try:
                document = text if is_read else parser.text(line, f"{self._name}, line {number}")
            except TextFileError as error:
                if not self._options.skip_bad:
                    raise
                skipped.append(str(error))
            else:
                if document is not None:
                    found[number] = document
        return DocumentRun(PackedTexts.of([*found.values()]), [*found], end, skipped)

    def _rows(self) -> Iterator[DocumentRun]:
        """Yield the rows of a Parquet file."""
        name, field, begin = self._name, self._options.field, self._begin
        first = 1  # the number of the first of `texts`
        for texts, is_null in rows_of_file(name, field, self._watch):
            last = first + len(texts) - 1
            # The first `known` rows are among the first `begin` rows, which the caller does not
            # want.
            known = max(0, min(len(texts), begin - first + 1))
            nulls = [first + int(index) for index in np.flatnonzero(is_null) if index >= known]
            if nulls and not self._options.skip_bad:
                raise TextFileError(null_message(name, nulls[0], field))
            rest = texts.after(known)
            lines: Sequence[int] = range(first + known, last + 1)
            if nulls:
                found = {
                    line: text
                    for line, text, is_bad in zip(lines, rest, is_null[known:], strict=True)
                    if not is_bad
                }
                lines, rest = [*found], PackedTexts.of([*found.values()])
            skipped = [null_message(name, number, field) for number in nulls]
            yield DocumentRun(rest, lines, max(last, begin), skipped)
            first = last + 1
        self._check_lines(first - 1)

    def _check_lines(self, lines: int) -> None:
        """Raise CorpusError if the file has fewer lines than an earlier call has read."""
        if lines < self._begin:
            raise CorpusError(
                f"{self._name}: the file has {lines} lines, but by the manifest an earlier call "
                f"has read {self._begin}; one of them has changed: delete the folder of the corpus "
                "and begin again"
            )


def _taken(held: list[bytes]) -> Iterator[bytes]:
    """Yield the blocks of `held`, and free each of them."""
    held.reverse()
    while held:
        yield held.pop()


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
            raise not_utf8(
                f"{name}, line {line + 1}", error, f" at offset {size + start}"
            ) from None
        line += block.count(b"\n")
        size += len(block)
    raise TextFileError(f"{name}: the file changed while it was read; tokenize it again")
