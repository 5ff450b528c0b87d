"""Show progress bars on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

DELAY = 0.5
"""Seconds after which a progress bar appears."""


class Bar(Protocol):
    """The methods of tqdm that callers use."""

    def update(self, n: int) -> Any:
        """Advance the bar by `n` units."""

    def set_postfix_str(self, s: str, refresh: bool) -> Any:
        """Show `s` after the bar."""


class _NoBar:
    """A progress bar that shows nothing."""

    def update(self, n: int) -> None:
        """Do nothing."""

    def set_postfix_str(self, s: str, refresh: bool) -> None:
        """Do nothing."""


@contextmanager
def progress_bar(
    label: str,
    unit: str,
    progress: bool | None,
    total: int | Callable[[], int | None] | None = None,
) -> Iterator[Bar]:
    """Show a progress bar if standard error is a terminal, unless `progress` is False.

    The bar appears after DELAY seconds, with the time that has passed and, if `total` is known, an
    estimate of the time that is left. `total` is the number of units at the end, or None, or a
    function that returns it and is called only if there is a bar.
    """
    if progress is False or sys.stderr is None or not sys.stderr.isatty():
        yield _NoBar()
        return
    from tqdm import tqdm

    end = total() if callable(total) else total
    with tqdm(desc=label, unit=unit, unit_scale=True, total=end, delay=DELAY) as bar:
        yield bar
