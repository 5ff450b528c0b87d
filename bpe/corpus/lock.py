"""Lock the folder of a corpus, so that one process at a time writes to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bpe.errors import CorpusError

NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`; raise CorpusError if another process holds it.

    The system releases the lock when the process ends, even if it is killed.
    """
    path = folder / NAME
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(file, folder)
            # Another process may have removed the file before this one locked it. The lock would
            # then protect nothing, so try again.
            if _is_same(file, path):
                break
        except BaseException:
            os.close(file)
            raise
        os.close(file)
    try:
        yield
    finally:
        # Windows cannot remove an open file, so close it first. On other systems, closing it would
        # release the lock, so remove the file first.
        if sys.platform == "win32":
            os.close(file)
        with suppress(OSError):
            path.unlink()
        if sys.platform != "win32":
            os.close(file)


def _lock(file: int, folder: Path) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise CorpusError(
            f"{folder}: another process writes to this folder; wait until it ends, or choose "
            "another folder"
        ) from None


def _is_same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
