"""Define ByteToCharOffsets, which converts byte offsets in UTF-8 to offsets in the encoded str."""

from __future__ import annotations

import numpy as np

from bpe.encoding.utf8 import join_surrogates
from bpe.types import Offsets
from pretok.text import code_points_of


class ByteToCharOffsets:
    """Converts offsets in the UTF-8 of a text into offsets in its code points.

    `text` was encoded as UTF-8 with `errors`, an error handler of Tokenizer. Construction takes
    O(n) time, each offset O(log n).
    """

    def __init__(self, text: str, errors: str) -> None:
        self._is_ascii = text.isascii()
        if self._is_ascii:
            return
        joined = join_surrogates(text) if errors == "replace" else text
        # Code point i of `joined` begins at byte _bytes[i], and at code point _chars[i] of `text`.
        self._bytes = byte_offsets(joined)
        self._chars = np.arange(len(joined) + 1)
        if len(joined) != len(text):
            codes = code_points_of(text)
            # High surrogates are U+D800 to U+DBFF (0x36 << 10), low ones U+DC00 to U+DFFF.
            is_high, is_low = (codes[:-1] >> 10 == 0x36), (codes[1:] >> 10 == 0x37)
            is_second_of_pair = np.concatenate([[False], is_high & is_low])
            self._chars = np.append(np.flatnonzero(~is_second_of_pair), len(codes))

    def starts(self, offsets: Offsets) -> Offsets:
        """Return the start of the code point that contains the byte at each of `offsets`.

        The offset of the end becomes the length of the text.
        """
        if self._is_ascii:
            return offsets
        indices = np.searchsorted(self._bytes, offsets, side="right") - 1
        starts: Offsets = self._chars[indices]
        return starts

    def ends(self, offsets: Offsets) -> Offsets:
        """Return the end of the code point that contains the byte before each of `offsets`.

        Offset 0 stays 0.
        """
        if self._is_ascii:
            return offsets
        ends: Offsets = self._chars[np.searchsorted(self._bytes, offsets, side="left")]
        return ends


def byte_offsets(text: str) -> Offsets:
    """Return the offset in UTF-8 of each code point of `text`, and of the end of `text`.

    A lone surrogate counts as one byte, as with Python's "surrogateescape".
    """
    codes = code_points_of(text)
    width = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.int64) + (codes >= 0x10000)
    width[(codes >= 0xD800) & (codes < 0xE000)] = 1
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(width)])
