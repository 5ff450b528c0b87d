"""Define PromptStore, which keeps the ids of whole texts for PromptCache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from sys import getsizeof
from threading import Lock
from typing import TypeAlias

import numpy as np

from bpe.encoding.utf8 import StrOrBytes, encode_utf8
from bpe.types import Ids
from pretok.process_lock import ProcessLock

_Key: TypeAlias = tuple[bytes, bytes, bytes, bool]

LARGEST = 8
"""A text may take 1 / LARGEST of the bound."""
_ENTRY_BYTES = 300
"""Estimates the memory of the objects of an entry, without the text, the policy and the ids."""
_LOCK_SECONDS = 1.0
"""How long a call waits for the lock. A signal handler may have interrupted its holder."""


class PromptStore:
    """Keeps ids of whole texts, at most `max_bytes` bytes, and drops the least recently used ones.

    It does what _core.PromptCache does in C++, which keeps parts of texts.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: dict[_Key, Ids] = {}
        self._held = self._evicted = 0
        self._counts = [0] * 5
        self._lock = ProcessLock(Lock)
        self._is_changing = False

    def encode(
        self,
        text: StrOrBytes,
        policy: bytes,
        salt: bytes,
        continuation: bool,
        before: Sequence[int],
        after: Sequence[int],
        encode: Callable[[], Ids],
    ) -> tuple[Ids, int, int]:
        """Return the ids of `before`, of `text` and of `after`, and twice the number of ids reused.

        `encode` returns the ids of `text`. Equal `policy` stand for equal arguments `special`.
        """
        key = encode_utf8(text), policy, salt, continuation
        ids = self._find(key)
        reused = 0 if ids is None else len(ids)
        if ids is None:
            ids = encode()
            self._keep(key, ids)
        self._count(len(key[0]), reused, len(ids))
        around = (np.array(part, np.uint32) for part in (before, after))
        return np.concatenate([next(around), ids, next(around)]), reused, reused

    def clear(self) -> None:
        """Drop all texts."""
        with self._locked() as is_locked:
            if is_locked:
                self._kept.clear()
                self._held = 0

    def statistics(self) -> tuple[int, ...]:
        """Return the fields of PromptCacheStatistics, in order."""
        calls, size, reused_size, ids, reused = self._counts
        return calls, size, reused_size, ids, reused, len(self._kept), self._held, self._evicted

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        lock = self._lock()
        if not lock.acquire(timeout=_LOCK_SECONDS):
            yield False
            return
        try:
            if self._is_changing:  # by a thread that a fork has not copied
                self._kept, self._held = {}, 0
            self._is_changing = True
            yield True
        finally:
            self._is_changing = False
            lock.release()

    def _find(self, key: _Key) -> Ids | None:
        with self._locked() as is_locked:
            ids = self._kept.pop(key, None) if is_locked else None
            if ids is not None:
                self._kept[key] = ids  # now the most recently used
        return ids

    def _keep(self, key: _Key, ids: Ids) -> None:
        size = _bytes_of(key, ids)
        if size > self._max_bytes // LARGEST:
            return
        with self._locked() as is_locked:
            if not is_locked or key in self._kept:
                return
            while self._held + size > self._max_bytes:
                oldest = next(iter(self._kept))
                self._held -= _bytes_of(oldest, self._kept.pop(oldest))
                self._evicted += 1
            self._kept[key] = ids.copy()  # the caller may change its array
            self._held += size

    def _count(self, size: int, reused: int, ids: int) -> None:
        with self._locked() as is_locked:
            if is_locked:
                new = 1, size, size if reused else 0, ids, reused
                self._counts = [a + b for a, b in zip(self._counts, new, strict=True)]


def _bytes_of(key: _Key, ids: Ids) -> int:
    text, policy, salt, _ = key
    return _ENTRY_BYTES + getsizeof(text) + getsizeof(policy) + getsizeof(salt) + ids.nbytes
