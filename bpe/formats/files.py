"""Read vocabulary files up to a maximal size, and write files atomically."""

from __future__ import annotations

import gzip
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from bpe.errors import UnsupportedError, VocabularyError
from pretok import files
from pretok.errors import UnreadableFileError, UnsupportedFileError, short_path
from pretok.files import check_folder, file_type, naming

MAX_BYTES = 1 << 29
"""The maximal size of a vocabulary file; the largest known files have a tenth of this size."""
GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""
MAX_RATIO = 100
"""The content of a gzip file may be this many times as large as the file, plus 1 MB."""


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Prefix errors about the content of the file `path` with the path."""
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
    """Open a file for unbuffered reading.

    Raises VocabularyError if it is not a regular file, and OSError if it cannot be opened.
    """
    try:
        with files.opened(path) as file:
            yield file
    except UnreadableFileError as error:
        raise VocabularyError(str(error)) from None


def read(path: Path) -> bytes:
    """Return the bytes of a regular file of at most MAX_BYTES.

    Stops at the limit even if the file grows meanwhile. Raises VocabularyError, with the path, if
    the file is larger or not a regular file, and OSError if it cannot be read.
    """
    with named(path):
        return files.read(path, MAX_BYTES)


def unpacked(data: bytes) -> bytes:
    """Return the content of a gzip file, or `data` if it is no gzip file.

    Raises VocabularyError if the gzip file is damaged, or if its content is too large.
    """
    if not data.startswith(GZIP):
        return data
    limit = min(MAX_BYTES, (1 << 20) + MAX_RATIO * len(data))
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            content = file.read(limit + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise VocabularyError(
            f"the gzip file is damaged or truncated: {error}; download it again"
        ) from None
    if len(content) > limit:
        raise VocabularyError(
            f"the gzip file of {len(data):,} bytes holds more than {limit:,} bytes; expected a "
            "vocabulary"
        )
    return content


def utf8_text(data: bytes) -> str:
    """Return `data` as a str; raises VocabularyError with the line if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise VocabularyError(
            f"line {line} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}; "
            "the file is damaged or has another format"
        ) from None


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path` as a whole; see `whole_file`."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a temporary file, which replaces `path` at the end.

    After an error, `path` is unchanged and the temporary file is removed. If `path` is a symbolic
    link, its target is replaced. The new file gets the permissions of the old file. Raises OSError,
    which names `path`, if the file cannot be written, such as FileNotFoundError if its folder does
    not exist; and VocabularyError if `path` exists and is not a regular file.
    """
    with naming(path):
        # `_mode_of` refuses a path that is too long, for which realpath takes quadratic time.
        mode = _mode_of(path)
        target = Path(os.path.realpath(path))
        check_folder(target if os.path.islink(path) else path)
        # The name is short and random. The name of the target with ".tmp" added could exceed the
        # limit of the file system.
        temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
        # 0o666 as in open(): the system applies the umask.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(temporary, flags, 0o666), "wb") as file:
                yield file
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
    """Return the permissions of the file to replace, or None if it does not exist."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise VocabularyError(
            f"{short_path(path)}: expected a regular file to replace or a new path, got "
            f"{file_type(mode)}"
        )
    return mode & 0o777


def _sync_folder(folder: Path) -> None:
    """Make the rename durable, if the system supports it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
