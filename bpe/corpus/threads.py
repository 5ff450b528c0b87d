"""Read the next items, and write the last results, in other threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")


class InOrder:
    """Calls functions in another thread, each after the one before."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._last: Future[object] | None = None

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Wait for the last call, raise its error, and begin the next call."""
        self.wait()
        self._last = self._pool.submit(function, *arguments)

    def wait(self) -> None:
        """Wait for the last call, and raise its error."""
        if self._last is not None:
            self._last.result()


class Counter:
    """Counts bytes in one thread for another."""

    def __init__(self) -> None:
        self._total = self._taken = 0

    def add(self, size: int) -> None:
        """Count `size` bytes."""
        self._total += size

    def take(self) -> int:
        """Return the number of bytes since the call before."""
        taken, self._taken = self._taken, self._total
        return self._taken - taken


class Sized(Iterator[bytes]):
    """Iterates over blocks and sums up their sizes."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self.size = 0

    def __next__(self) -> bytes:
        block = next(self._blocks)
        self.size += len(block)
        return block


def read_ahead(
    pool: ThreadPoolExecutor,
    items: Iterator[Item],
    may_read: Callable[[Item], bool] = lambda item: True,
) -> Iterator[Item]:
    """Yield `items`; another thread takes the next item early, if `may_read` is true for this."""
    end = object()
    future: Future[Any] = pool.submit(next, items, end)
    while (item := future.result()) is not end:
        if may_read(item):
            future = pool.submit(next, items, end)
            yield item
        else:
            yield item
            future = pool.submit(next, items, end)
