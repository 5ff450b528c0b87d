"""Where bytes of UTF-8 stand in the str that they came from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.python_backend import join_surrogates

Positions = NDArray[np.int64]


class Places:
    """Turns offsets in bytes of a text's UTF-8 into offsets in its code points.

    `text` is a str that was encoded with the error handler `errors` (of Tokenizer). O(n) to make,
    O(log n) for each offset.
    """

    def __init__(self, text: str, errors: str) -> None:
        self._ascii = text.isascii()
        if self._ascii:
            return
        joined = join_surrogates(text) if errors == "replace" else text
        self._bytes = self.bytes_of(joined)
        self._chars = np.arange(len(joined) + 1)
        if len(joined) != len(text):
            given = _codes(text)
            high, low = (given[:-1] >> 10 == 0x36), (given[1:] >> 10 == 0x37)
            second = np.concatenate([[False], high & low])
            self._chars = np.append(np.flatnonzero(~second), len(given))

    @staticmethod
    def bytes_of(text: str) -> Positions:
        """Return the offset in bytes of each code point of `text`, and of its end.

        A lone surrogate stands for one byte, as in Python's "surrogateescape".
        """
        codes = _codes(text)
        width = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.int64) + (codes >= 0x10000)
        width[(codes >= 0xD800) & (codes < 0xE000)] = 1
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(width)])

    def starts(self, offsets: Positions) -> Positions:
        """Return where the code points that hold the bytes at `offsets` start."""
        if self._ascii:
            return offsets
        found: Positions = self._chars[np.searchsorted(self._bytes, offsets, side="right") - 1]
        return found

    def ends(self, offsets: Positions) -> Positions:
        """Return where the code points that hold the bytes before `offsets` end."""
        if self._ascii:
            return offsets
        found: Positions = self._chars[np.searchsorted(self._bytes, offsets, side="left")]
        return found


def _codes(text: str) -> NDArray[np.int64]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
