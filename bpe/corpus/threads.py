"""Read the next items, and write the last results, in other threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")


class InOrder:
    """Calls functions in another thread, one after the other."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._last: Future[object] | None = None

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Wait for the previous call, raise its error if it failed, and begin this call."""
        self.wait()
        self._last = self._pool.submit(function, *arguments)

    def wait(self) -> None:
        """Wait for the previous call, and raise its error if it failed."""
        if self._last is not None:
            self._last.result()


def read_ahead(pool: ThreadPoolExecutor, items: Iterator[Item]) -> Iterator[Item]:
    """Yield `items`; another thread already computes the next item."""
    end = object()
    future: Future[Any] = pool.submit(next, items, end)
    while (item := future.result()) is not end:
        future = pool.submit(next, items, end)
        yield item
