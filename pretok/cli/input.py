"""Read the text of a command from a file, standard input or an argument."""

from __future__ import annotations

import codecs
import io
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, BinaryIO, NamedTuple, cast

import click

BLOCK = 1 << 18
"""Bytes of one read. Larger blocks would take much memory: while the program prints a block, each
pre-token of the block takes about 200 bytes of memory, even a pre-token of one byte."""

ITSELF = {"--text": "the text itself", "--ids": "the ids themselves"}
"""Maps each option that replaces an input file to what it takes, for messages."""

_names = reprlib.Repr()
_names.maxstring = 120


class Input(NamedTuple):
    """An open input: its name in messages, and its blocks of bytes; the last block is empty."""

    name: str
    blocks: Iterator[bytes]


@contextmanager
def open_text(file: str | None, text: str | None, binary: bool) -> Iterator[Iterator[str]]:
    """Open the input and yield an iterator of the parts of its text.

    `file` is a path, or "-" or None for standard input; `text` replaces the file. If `binary` is
    true, a byte that is not UTF-8 becomes the lone surrogate U+DC00 + byte. Raises
    click.ClickException with a remedy if the input is missing, empty or not text. The iterator
    checks each part when it reads the part, so the caller may have printed earlier parts by then.
    """
    with open_bytes(file, text) as opened_input:
        yield decoded(opened_input, binary)


def read_text(
    file: str | None, text: str | None = None, binary: bool = False, may_be_empty: bool = True
) -> str:
    """Return the whole text of the input; the arguments are those of `open_text` and `decoded`."""
    with open_bytes(file, text) as opened_input:
        return "".join(decoded(opened_input, binary, may_be_empty))


@contextmanager
def open_bytes(file: str | None, text: str | None, option: str = "--text") -> Iterator[Input]:
    """Open the input as `open_text` does, and yield it as bytes.

    `option` is the command-line option that `text` comes from, for messages.
    """
    if text is not None:
        if file is not None:
            raise click.UsageError(f"got both FILE and {option}; pass only one of them")
        name, opened = option, cast("AbstractContextManager[Any]", io.BytesIO(_encode(text)))
    elif file is None or file == "-":
        name, opened = "standard input", nullcontext(_standard_input(option))
    else:
        name, opened = shown_path(file), _open(file, option)
    with opened as stream, _progress(stream) as advance:
        yield Input(name, _blocks(stream, name, advance))


def shown_path(path: str) -> str:
    """Return `path` for a message, in quotes and shortened."""
    return _names.repr(path)


def lines_of(chunks: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of a text in lists, without LF or CRLF.

    Each list has the lines that end in one chunk. The last list has the unfinished last line.
    """
    unfinished: list[str] = []
    for chunk in chunks:
        lines, newline, rest = chunk.rpartition("\n")
        if newline:
            text = "".join([*unfinished, lines, "\n"])
            yield text.replace("\r\n", "\n").split("\n")[:-1]
            unfinished = []
        unfinished.append(rest)
    if any(unfinished):
        yield ["".join(unfinished)]


def _encode(text: str) -> bytes:
    # Python decodes a byte of a command-line argument that is not UTF-8 to a lone surrogate. Undo
    # this. On Windows, arguments are UTF-16, and may have lone surrogates.
    return text.encode("utf-8", "surrogatepass" if os.name == "nt" else "surrogateescape")


def _open(path: str, option: str) -> AbstractContextManager[Any]:
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise cannot_open(error, path, option) from None


def cannot_open(error: OSError, path: str, option: str = "--text") -> click.ClickException:
    """Return the error for an input that cannot be opened; `option` is as in `open_bytes`."""
    return click.ClickException(
        f"cannot open {shown_path(path)}: {error.strerror}; pass a readable file, "
        f"'-' for standard input, or {ITSELF[option]} with {option}"
    )


def _standard_input(option: str) -> Any:
    if sys.stdin is None:
        raise click.ClickException(
            f"standard input is closed; pass a FILE, or {ITSELF[option]} with {option}"
        )
    if sys.stdin.isatty() and sys.stderr is not None:
        click.echo("pretok: reading text from the terminal until end of file", err=True)
    # Bypass the buffer, to split the text of a pipe as it arrives.
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


def _blocks(stream: BinaryIO, name: str, advance: Callable[[int], object]) -> Iterator[bytes]:
    """Yield the blocks of `stream`; the last block is empty."""
    block = None
    while block != b"":
        try:
            block = stream.read(BLOCK)
        except OSError as error:
            raise click.ClickException(
                f"cannot read {name}: {error.strerror}; pass a text file"
            ) from None
        if block is None:
            raise click.ClickException(
                f"cannot read {name}: it is non-blocking (O_NONBLOCK); pipe it through cat"
            )
        advance(len(block))
        yield block


def decoded(source: Input, binary: bool, may_be_empty: bool = False) -> Iterator[str]:
    """Yield the text of `source`, checked as in `open_text`.

    An empty source raises click.ClickException unless `may_be_empty` is true.
    """
    name, blocks = source
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape" if binary else "strict")
    position = 0
    for block in blocks:
        if not block and not position and not may_be_empty:
            raise click.ClickException(f"{name} is empty; expected some text")
        nul = -1 if binary else block.find(0)
        # Number of bytes of an incomplete sequence at the end of the previous block. `error.start`
        # below counts these bytes too.
        pending = len(decoder.getstate()[0])
        try:
            chars = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            bad = error.start - pending
            if not 0 <= nul < bad:  # a NUL before the invalid byte is reported below
                byte = error.object[error.start]
                raise _not_text(name, position + bad, f"0x{byte:02x} is not UTF-8") from None
        if nul >= 0:
            raise _not_text(name, position + nul, "NUL is not text")
        position += len(block)
        if chars:
            yield chars


def _not_text(name: str, position: int, problem: str) -> click.ClickException:
    return click.ClickException(
        f"{name}, byte {position}: {problem}; expected UTF-8 text: convert it to UTF-8, or pass "
        "--binary to allow any bytes"
    )


@contextmanager
def _progress(stream: BinaryIO) -> Iterator[Callable[[int], object]]:
    """Yield a function for the caller, who passes the number of bytes of each block to it.

    If standard error is a terminal and standard output is not, the function advances a progress
    bar, which appears after one second.
    """
    if sys.stderr is None or not sys.stderr.isatty() or sys.stdout is None or sys.stdout.isatty():
        yield lambda count: None
        return
    from tqdm import tqdm

    with tqdm(
        total=_size(stream), unit="B", unit_scale=True, unit_divisor=1024, delay=1, leave=False
    ) as bar:
        yield bar.update


def _size(stream: BinaryIO) -> int | None:
    try:
        return os.fstat(stream.fileno()).st_size or None
    except OSError:
        return None
