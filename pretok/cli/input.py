"""Where the command line's text comes from: a file, standard input or an argument."""

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
"""How many bytes are read at a time: enough for speed, and a block of one-byte pre-tokens, at some
200 bytes each while they are printed, still takes little memory."""

ITSELF = {"--text": "the text itself", "--ids": "the ids themselves"}
"""What options that stand for an input have."""

_names = reprlib.Repr()
_names.maxstring = 120


class Input(NamedTuple):
    """An open input: what messages call it, and its blocks of bytes, the last one empty."""

    name: str
    blocks: Iterator[bytes]


@contextmanager
def open_text(file: str | None, text: str | None, binary: bool) -> Iterator[Iterator[str]]:
    """Open the input and yield an iterator of its text, in parts that are checked as they are read.

    `file` is a path, or "-" or None for standard input; `text` is the text itself, if given. With
    `binary` a byte that is not UTF-8 becomes the lone surrogate U+DC00 + byte. Raises
    click.ClickException, which says what to do, if there is no such input, it is empty, or it is
    not text; what is printed before that came from earlier blocks.
    """
    with open_bytes(file, text) as given:
        yield decoded(given, binary)


@contextmanager
def open_bytes(file: str | None, text: str | None, option: str = "--text") -> Iterator[Input]:
    """Open the input as `open_text` does and yield its bytes; `option` is where `text` is from."""
    if text is not None:
        if file is not None:
            raise click.UsageError(f"both FILE and {option} are given; give one of them")
        name, opened = option, cast("AbstractContextManager[Any]", io.BytesIO(_encode(text)))
    elif file is None or file == "-":
        name, opened = "standard input", nullcontext(_standard_input(option))
    else:
        name, opened = shown_path(file), _open(file, option)
    with opened as stream, _progress(stream) as advance:
        yield Input(name, _blocks(stream, name, advance))


def shown_path(path: str) -> str:
    """Return `path` in quotes, shortened, as messages have it."""
    return _names.repr(path)


def lines_of(chunks: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of a text without their LF or CRLF, those that end in each chunk together."""
    begun: list[str] = []
    for chunk in chunks:
        ended, found, rest = chunk.rpartition("\n")
        if found:
            whole = "".join([*begun, ended, "\n"])
            yield whole.replace("\r\n", "\n").split("\n")[:-1]
            begun = []
        begun.append(rest)
    if any(begun):
        yield ["".join(begun)]


def _encode(text: str) -> bytes:
    # How Python hands on arguments that are not Unicode: bytes escaped, or UTF-16 on Windows.
    return text.encode("utf-8", "surrogatepass" if os.name == "nt" else "surrogateescape")


def _open(path: str, option: str) -> AbstractContextManager[Any]:
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise click.ClickException(
            f"cannot open {shown_path(path)}: {error.strerror}; give a file that can be read, "
            f"'-' for standard input, or {ITSELF[option]} with {option}"
        ) from None


def _standard_input(option: str) -> Any:
    if sys.stdin is None:
        raise click.ClickException(
            f"standard input is closed; name a FILE, or give {ITSELF[option]} with {option}"
        )
    if sys.stdin.isatty() and sys.stderr is not None:
        click.echo("pretok: reading text from the terminal until end of file", err=True)
    # Past the buffer, so that a pipe is split as its text comes.
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


def _blocks(stream: BinaryIO, name: str, advance: Callable[[int], object]) -> Iterator[bytes]:
    """Yield the blocks of `stream`, the last one empty."""
    block = None
    while block != b"":
        try:
            block = stream.read(BLOCK)
        except OSError as error:
            raise click.ClickException(
                f"cannot read {name}: {error.strerror}; give a file of text"
            ) from None
        if block is None:
            raise click.ClickException(
                f"cannot read {name}: it does not wait for data (O_NONBLOCK); pipe it through cat"
            )
        advance(len(block))
        yield block


def decoded(given: Input, binary: bool, may_be_empty: bool = False) -> Iterator[str]:
    """Yield the text of `given`, checked as `open_text` says."""
    name, blocks = given
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape" if binary else "strict")
    position = 0
    for block in blocks:
        if not block and not position and not may_be_empty:
            raise click.ClickException(f"{name} is empty; give some text to split")
        nul = -1 if binary else block.find(0)
        begun = len(decoder.getstate()[0])
        try:
            chars = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            bad = error.start - begun
            if not 0 <= nul < bad:
                byte = error.object[error.start]
                raise _not_text(name, position + bad, f"0x{byte:02x} is not UTF-8") from None
        if nul >= 0:
            raise _not_text(name, position + nul, "NUL is not text")
        position += len(block)
        if chars:
            yield chars


def _not_text(name: str, position: int, what: str) -> click.ClickException:
    return click.ClickException(
        f"{name}, byte {position}: {what}; expected UTF-8 text: convert it to UTF-8, or pass "
        "--binary to take any bytes"
    )


@contextmanager
def _progress(stream: BinaryIO) -> Iterator[Callable[[int], object]]:
    """Show a progress bar from the second second on, if it cannot get into the way of the output.

    Yields the function to call with each number of bytes done.
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
