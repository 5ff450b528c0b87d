"""Reading vocabulary files, and writing them whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bpe.errors import UnsupportedError, VocabularyError

MOST_BYTES = 1 << 29
"""No file is read that is larger; the largest vocabularies there are have a tenth of it."""


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Put `path` before the text of an error that says what is wrong in that file."""
    try:
        yield
    except (VocabularyError, UnsupportedError) as error:
        raise type(error)(f"{path}: {error}") from error


def size_of(path: Path) -> int:
    """Return how many bytes a file has; raises VocabularyError if it is no file, OSError."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise VocabularyError("this is no ordinary file; expected a vocabulary file")
    return status.st_size


def read(path: Path) -> bytes:
    """Return the bytes of a file; raises VocabularyError if it is none or too large, OSError."""
    with named(path):
        size = size_of(path)
        if size > MOST_BYTES:
            raise VocabularyError(
                f"the file has {size:,} bytes; a vocabulary file has {MOST_BYTES:,} at most, so "
                "this is something else"
            )
    return path.read_bytes()


def utf8_text(data: bytes) -> str:
    """Return `data` as a str; raises VocabularyError with the line if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise VocabularyError(
            f"line {line} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}; "
            "the file is damaged or of another kind"
        ) from None


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to a new file and put it in the place of `path`; raises OSError.

    `path` is as it was before if anything goes wrong, and nothing else is left behind. A symbolic
    link stays one, and what it points to is replaced.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    # 0o666, from which the system takes the umask: as with open().
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
