"""Define DeferredBackend, which makes a backend only when a text is worth it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any
from weakref import WeakMethod

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.backend import Backend, Calls
from bpe.encoding.utf8 import StrOrBytes
from bpe.types import Ids

MAX_FIRST = 2048
"""The number of code units of all texts that `first` may encode."""


class DeferredBackend:
    """A Backend that uses `first` for the first short texts, and then the result of `make`.

    Both give the same results. `first` is a backend that takes little time to make, and more time
    than the other one to encode. All methods but those below call `make` at once.

    Tables that only fast merging needs take much of the time of loading a file. So a program that
    encodes little text ends before they are made.
    """

    def __init__(self, first: Backend, make: Callable[[], Backend]) -> None:
        self._first: Backend | None = first
        self._make: Callable[[], Backend] | None = make
        self._room = MAX_FIRST
        self._made: Backend | None = None
        self._on_made: WeakMethod[Callable[[], None]] | None = None
        # An RLock, because a signal handler may encode a text too.
        self._lock = RLock(), os.getpid()

    @property
    def is_made(self) -> bool:
        """True if `make` has been called."""
        return self._made is not None

    def on_made(self, method: WeakMethod[Callable[[], None]]) -> None:
        """Call `method` after `make`, if its object exists."""
        self._on_made = method

    def encode(self, text: StrOrBytes, added: Any, threads: int = 0) -> list[int]:
        """Return the ids of `text`."""
        return self._backend_for(text).encode(text, added, threads)

    def encode_array(self, text: StrOrBytes, added: Any, threads: int = 0) -> Ids:
        """Return the ids of `text` as an array."""
        return self._backend_for(text).encode_array(text, added, threads)

    def count(self, text: StrOrBytes, added: Any, threads: int = 0) -> int:
        """Return the number of ids of `text`."""
        return self._backend_for(text).count(text, added, threads)

    def fast_calls(
        self, make_added: Callable[[Any], object], slow_calls: Calls, *limits: bool
    ) -> Calls:
        """Return `slow_calls` until `make` is called, then the calls of its result."""
        made = self._made
        return slow_calls if made is None else made.fast_calls(make_added, slow_calls, *limits)

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None:
        """Return the bytes of `ids`, or None if an id has no token."""
        return self._current.decode(ids)

    def decode_calls(self, special: Sequence[int], slow_calls: Calls) -> Calls:
        """Return replacements for `slow_calls`."""
        return self._current.decode_calls(special, slow_calls)

    def is_normal(self, text: StrOrBytes) -> bool:
        """Return True only if `text` is in NFC; False may be returned for any text."""
        return self._current.is_normal(text)

    @property
    def cache_bytes(self) -> int:
        """The number of bytes that the caches hold."""
        return self._current.cache_bytes

    def trim(self) -> None:
        """Free the caches."""
        self._current.trim()

    @property
    def _current(self) -> Backend:
        first = self._first  # read before `_made`: another thread may set both meanwhile
        made = self._made
        if made is not None:
            return made
        assert first is not None
        return first

    def _backend_for(self, text: StrOrBytes) -> Backend:
        self._room -= len(text)
        return self._current if self._room >= 0 else self._whole()

    def _whole(self) -> Backend:
        """Return the result of `make`."""
        if self._made is None:
            lock, process = self._lock
            if process != os.getpid():
                # This process is a fork, and another thread may have held the lock at that moment.
                lock, _ = self._lock = RLock(), os.getpid()
            with lock:
                if self._make is not None:
                    self._made = self._make()
                    self._make = self._first = None
                    method = None if self._on_made is None else self._on_made()
                    if method is not None:
                        method()
        assert self._made is not None
        return self._made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole(), name)
