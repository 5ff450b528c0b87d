"""Where the command line's text comes from: a file, standard input or an argument."""

from __future__ import annotations

import codecs
import io
import os
import reprlib
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, BinaryIO, cast

import click

BLOCK = 1 << 18
"""How many bytes are read at a time: enough for speed, and a block of one-byte pre-tokens, at some
200 bytes each while they are printed, still takes little memory."""

_names = reprlib.Repr()
_names.maxstring = 120


@contextmanager
def open_text(file: str | None, text: str | None, binary: bool) -> Iterator[Iterator[str]]:
    """Open the input and yield an iterator of its text, in parts that are checked as they are read.

    `file` is a path, or "-" or None for standard input; `text` is the text itself, if given. With
    `binary` a byte that is not UTF-8 becomes the lone surrogate U+DC00 + byte. Raises
    click.ClickException, which says what to do, if there is no such input, it is empty, or it is
    not text; what is printed before that came from earlier blocks.
    """
    if text is not None:
        if file is not None:
            raise click.UsageError("both FILE and --text are given; give one of them")
        name, opened = "--text", cast("AbstractContextManager[Any]", io.BytesIO(_encode(text)))
    elif file is None or file == "-":
        name, opened = "standard input", nullcontext(_standard_input())
    else:
        name, opened = _names.repr(file), _open(file)
    with opened as stream, _progress(stream) as advance:
        yield _decode(_blocks(stream, name, advance), name, binary)


def _encode(text: str) -> bytes:
    # How Python hands on arguments that are not Unicode: bytes escaped, or UTF-16 on Windows.
    return text.encode("utf-8", "surrogatepass" if os.name == "nt" else "surrogateescape")


def _open(path: str) -> AbstractContextManager[Any]:
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise click.ClickException(
            f"cannot open {_names.repr(path)}: {error.strerror}; give a file that can be read, "
            "'-' for standard input, or the text itself with --text"
        ) from None


def _standard_input() -> Any:
    if sys.stdin is None:
        raise click.ClickException(
            "standard input is closed; name a FILE, or give the text itself with --text"
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


def _decode(blocks: Iterator[bytes], name: str, binary: bool) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape" if binary else "strict")
    position = 0
    for block in blocks:
        if not block and not position:
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
        "--binary to split any bytes"
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
