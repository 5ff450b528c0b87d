"""Reading vocabulary files with a limit, and writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from bpe.errors import UnsupportedError, VocabularyError
from pretok import files
from pretok.errors import UnreadableFileError, UnsupportedFileError, short_path
from pretok.files import kind_of, naming

MOST_BYTES = 1 << 29
"""No file is read that is larger; the largest vocabularies there are have a tenth of it."""


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Put `path` before the text of an error that says what is wrong in that file."""
    try:
        yield
    except (VocabularyError, UnsupportedError) as error:
        raise type(error)(f"{short_path(path)}: {error}") from error
    except UnreadableFileError as error:
        raise VocabularyError(f"{short_path(path)}: {error}") from error
    except UnsupportedFileError as error:
        raise UnsupportedError(f"{short_path(path)}: {error}") from error


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file to be read, unbuffered; raises VocabularyError for another, OSError."""
    try:
        with files.opened(path) as file:
            yield file
    except UnreadableFileError as error:
        raise VocabularyError(str(error)) from None


def read(path: Path) -> bytes:
    """Return the bytes of a regular file of at most MOST_BYTES.

    Reads no more, however large the file is or becomes. Raises VocabularyError, with the path, for
    any other file; OSError.
    """
    with named(path):
        return files.read(path, MOST_BYTES)


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
    """Write `data` to a new file and put it in the place of `path`.

    `path` is as it was before if anything goes wrong, and nothing else is left behind. A symbolic
    link stays one, and the file that it points to is replaced; the new file has the permissions of
    the old one. Raises OSError, which names `path`; VocabularyError if `path` is there and no
    regular file.
    """
    with naming(path):
        mode = _mode_of(path)  # refuses long names, for which realpath takes quadratic time
        _replace(Path(os.path.realpath(path)), mode, data)


def _replace(target: Path, mode: int | None, data: bytes) -> None:
    # Independent of the name, which may be as long as the file system allows.
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    # 0o666, from which the system takes the umask: as with open().
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _mode_of(path: str | os.PathLike[str]) -> int | None:
    """Return the permissions of the file to replace, or None if there is none."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise VocabularyError(
            f"{short_path(path)}: this is {kind_of(mode)}; give the path of a file that is to be "
            "made or replaced"
        )
    return mode & 0o777


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
