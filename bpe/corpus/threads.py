"""Read the next items, encode several items, and write the last results, in other threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


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


def map_in_order(
    pool: ThreadPoolExecutor, function: Callable[[Item], Result], items: Iterator[Item], ahead: int
) -> Iterator[Result]:
    """Yield function(item) for each item, in order.

    At most `ahead` further items are in the threads of `pool` or wait for them. If `items` raises
    an error, the results of all earlier items are yielded first.
    """
    calls: deque[Future[Result]] = deque()
    failure: Exception | None = None
    while failure is None:
        try:
            item = next(items)
        except StopIteration:
            break
        except Exception as error:
            failure = error
        else:
            calls.append(pool.submit(function, item))
            if len(calls) > ahead:
                yield calls.popleft().result()
    while calls:
        yield calls.popleft().result()
    if failure is not None:
        raise failure
