"""Define ProcessLock, a lock that a forked child does not inherit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

Lock = TypeVar("Lock")
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class ProcessLock(Generic[Lock]):
    """A lock of each process. No thread holds the lock of a forked child at first.

    A fork copies a lock, but not the thread that holds it, so a child would wait for it forever.
    The child may find the object of the lock half changed.

    >>> from threading import RLock
    >>> lock = ProcessLock(RLock)
    >>> with lock():
    ...     "no other thread of this process is here"
    'no other thread of this process is here'
    """

    def __init__(self, make: Callable[[], Lock]) -> None:
        """`make` is threading.Lock or threading.RLock."""
        self._make = make
        self._locks: dict[int, Lock] = {}

    def __call__(self) -> Lock:
        """Return the lock of this process, the same object each time."""
        # setdefault is atomic, so all threads get the same lock.
        return self._locks.setdefault(_forks, self._make())
