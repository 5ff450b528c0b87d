"""Read untrusted files: only regular files, and never more bytes than a limit."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pretok.errors import UnreadableFileError, short_path

MIN_READ = 1 << 16
"""Minimum bytes that one read requests, unless fewer bytes remain up to the limit."""
# Some systems lack some of these flags. With O_NONBLOCK, opening a pipe does not wait for a writer.
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK")
)
_FILE_TYPES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put `path` into the message of each OSError from the context; shorten a very long path."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == os.fspath(path) == short_path(path):
            raise
        raise OSError(error.errno, error.strerror, short_path(path)) from error


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise FileNotFoundError if the folder of the file `path` does not exist."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        shown = short_path(os.path.dirname(path))
        raise FileNotFoundError(
            errno.ENOENT, f"the folder {shown!r} does not exist; create it first", short_path(path)
        )


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading, unbuffered.

    Does not wait for the writer of a pipe. Does not open a device, because opening a device may
    change the state of the device. Raises UnreadableFileError if `path` is not a regular file, and
    OSError if the system cannot open the file.
    """
    with naming(path):
        if "\0" in os.fspath(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        _check_regular(path.stat())
        with open(os.open(path, _FLAGS), "rb", buffering=0) as file:
            # Check again: `path` may name another file since the first check.
            _check_regular(os.fstat(file.fileno()))
            yield file


def read(path: Path, limit: int) -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes.

    Reads at most `limit` + 1 bytes, even if the file grows during the read. Raises
    UnreadableFileError if the file is larger than `limit` bytes or not a regular file, and OSError
    if the system cannot open or read the file.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        parts: list[bytes] = []
        size_read = 0
        read_size = max(size + 1, MIN_READ)
        while size <= limit and size_read <= limit:
            part = file.read(min(read_size, limit + 1 - size_read))
            if part is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            if not part:  # the end of the file, whose size may have changed
                return parts[0] if len(parts) == 1 else b"".join(parts)
            parts.append(part)
            size_read += len(part)
            read_size = max(size_read, MIN_READ)
    count = f"{size:,}" if size > limit else f"more than {limit:,}"
    raise UnreadableFileError(
        f"the file has {count} bytes; expected {limit:,} at most; check that it is the right file"
    )


def file_type(mode: int) -> str:
    """Return a phrase for the type of a file that is not regular; `mode` is the file's st_mode."""
    return next((name for is_type, name in _FILE_TYPES if is_type(mode)), "not a regular file")


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFileError(
            f"this is {file_type(status.st_mode)}; expected a regular file; copy the data to a file"
        )
