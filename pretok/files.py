"""Reading files that hold data of others: regular ones only, and never more than a limit."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pretok.errors import UnreadableFileError, short_path

LEAST_READ = 1 << 16
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK")
)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let every OSError name `path`, shortened if it is very long."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == os.fspath(path) == short_path(path):
            raise
        raise OSError(error.errno, error.strerror, short_path(path)) from error


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file to be read, unbuffered.

    Never wait for the writer of a pipe. Never open a device, which may change it. Raises
    UnreadableFileError for anything but a regular file; OSError.
    """
    with naming(path):
        if "\0" in os.fspath(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        _check_regular(path.stat())
        with open(os.open(path, _FLAGS), "rb", buffering=0) as file:
            _check_regular(os.fstat(file.fileno()))
            yield file


def read(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file, of which there may be `most`.

    Reads at most one byte more, however large the file is or becomes. Raises UnreadableFileError
    for a larger file, and for anything but a regular one; OSError.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        parts: list[bytes] = []
        got = 0
        # One byte more than the file should have shows that it ends.
        wanted = max(size + 1, LEAST_READ)
        while size <= most and got <= most:
            part = file.read(min(wanted, most + 1 - got))
            if part is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            if not part:
                return parts[0] if len(parts) == 1 else b"".join(parts)
            parts.append(part)
            got += len(part)
            wanted = max(got, LEAST_READ)
    count = f"{size:,}" if size > most else f"more than {most:,}"
    raise UnreadableFileError(
        f"the file has {count} bytes; expected {most:,} at most, so this is something else"
    )


def kind_of(mode: int) -> str:
    """Return what a file of this mode is, if it is no regular one."""
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "no regular file")


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFileError(
            f"this is {kind_of(status.st_mode)}; expected an ordinary file, so copy it to one"
        )
