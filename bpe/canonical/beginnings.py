"""Find the tokens that begin with given bytes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


def beginning_with(tokens: Sequence[bytes], start: bytes) -> range:
    """Return the places of the tokens that begin with `start`; `tokens` are sorted.

    >>> beginning_with([b"a", b"ab", b"abc", b"b"], b"ab")
    range(1, 3)
    """
    low = bisect_left(tokens, start)
    high = bisect_left(tokens, True, low, key=lambda token: not token.startswith(start))
    return range(low, high)
