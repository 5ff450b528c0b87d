"""Track which items of Sequence components a caller still holds, while `patch` is in effect.

A component such as a post-processor may be a Sequence. An item of a Sequence can change the
component after the Sequence itself is gone. So `patch` notes each item that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import getrefcount
from threading import Lock
from typing import Any

from bpe.compat.huggingface.real import SEQUENCES

_lock = Lock()
_taken: list[Any] = []
_limit = 64
"""The number of items at which `_note` drops items that nobody holds."""
_period: int | None = None
"""The number of the current period, from `start` to `stop`; None outside of a period."""
_periods = 0
"""The number of periods so far."""


def replacements() -> Iterator[tuple[type, str, Any]]:
    """Yield the class, the name and the new value of each attribute that `patch` replaces."""
    for owner in SEQUENCES:
        yield owner, "__getitem__", _noting(owner.__getitem__)


def start() -> None:
    """Begin a period in which all items are noted."""
    global _period, _periods
    _periods += 1
    _period = _periods


def stop() -> None:
    """End the period."""
    global _period
    _period = None


def period() -> int | None:
    """Return the number of the period, or None if items are not noted now."""
    return _period


def are_held() -> bool:
    """Return whether any caller holds an item that was noted."""
    with _lock:
        _drop_unheld()
        return bool(_taken)


def _noting(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def __getitem__(self: Any, index: Any) -> Any:
        item = method(self, index)
        _note(item)
        return item

    return __getitem__


def _note(item: Any) -> None:
    global _limit
    with _lock:
        _taken.append(item)
        if len(_taken) > _limit:
            _drop_unheld()
            _limit = max(64, 2 * len(_taken))


def _drop_unheld() -> None:
    held = [count > UNSHARED for count in counts(_taken)]
    _taken[:] = [item for item, is_held in zip(_taken, held, strict=True) if is_held]


def counts(items: list[Any]) -> list[int]:
    """Return the reference count of each item."""
    return [getrefcount(items[index]) for index in range(len(items))]


[UNSHARED] = counts([object()])
"""The reference count of an item that only the argument of `counts` holds."""
