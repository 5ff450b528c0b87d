"""Define UnitOffsets, which converts offsets in the UTF-8 of a text to offsets in another unit."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from bpe.encoding.arguments import validate_text
from bpe.encoding.utf8 import ESCAPE, decode_utf8, encode_utf8, join_surrogates
from bpe.once import lazy
from bpe.types import Errors, Offsets, Text, Unit
from pretok.errors import quoted, shortened
from pretok.machine.machine import widths_of
from pretok.text import code_points_of
from pretok.unicode.graphemes import grapheme_starts


def check_unit(unit: Unit) -> None:
    """Raise ValueError for an unknown unit."""
    if unit not in get_args(Unit):
        units = quoted(get_args(Unit))
        raise ValueError(f"unknown unit {shortened(unit)}; expected one of {units}")


class UnitOffsets:
    """Converts offsets in the UTF-8 of a text into offsets in `unit`.

    If `text` is a str, it was encoded with `errors`, an error handler of Tokenizer. The default
    unit is the one that indexes `text`: "char" for a str, "byte" for bytes. Construction takes O(n)
    time, each offset O(log n). Raises ValueError for an unknown unit.

    >>> offsets = UnitOffsets("né!".encode(), "replace", "char")
    >>> offsets.starts(np.arange(5)).tolist(), offsets.ends(np.arange(5)).tolist()
    ([0, 1, 1, 2, 3], [0, 1, 2, 2, 3])
    """

    def __init__(self, text: Text, errors: Errors, unit: Unit | None = None) -> None:
        if unit is None:
            unit = "char" if isinstance(text, str) else "byte"
        check_unit(unit)
        self._text = text
        self._errors = errors
        # Element i, a code point or a grapheme, begins at byte bounds[0][i] and at bounds[1][i] in
        # `unit`. None if both numbers are the same.
        self._bounds = None if unit == "byte" else _bounds(text, errors, unit)

    @lazy
    def size(self) -> int:
        """The length of the text."""
        if self._bounds is not None:
            return int(self._bounds[1][-1])
        return len(encode_utf8(validate_text(self._text, self._errors)))

    def starts(self, offsets: Offsets) -> Offsets:
        """Return the start of the element that contains the byte at each of `offsets`.

        An element is a code point, or a grapheme if this is the unit. The offset of the end becomes
        the length of the text.
        """
        if self._bounds is None:
            return offsets
        in_bytes, in_unit = self._bounds
        starts: Offsets = in_unit[np.searchsorted(in_bytes, offsets, side="right") - 1]
        return starts

    def bytes_of(self, offsets: Offsets) -> Offsets:
        """Return the byte at which the element begins that contains each of `offsets` in `unit`."""
        if self._bounds is None:
            return offsets
        in_bytes, in_unit = self._bounds
        places: Offsets = in_bytes[np.searchsorted(in_unit, offsets, side="right") - 1]
        return places

    def ends(self, offsets: Offsets) -> Offsets:
        """Return the end of the element that contains the byte before each of `offsets`.

        Offset 0 stays 0.
        """
        if self._bounds is None:
            return offsets
        in_bytes, in_unit = self._bounds
        ends: Offsets = in_unit[np.searchsorted(in_bytes, offsets, side="left")]
        return ends

    def spans(self, starts: Offsets, ends: Offsets) -> tuple[Offsets, Offsets]:
        """Return the least spans of elements that contain the half-open spans of bytes.

        An empty span stays empty.
        """
        new_starts = self.starts(starts)
        return new_starts, np.where(starts < ends, self.ends(ends), new_starts)


def byte_offsets(text: str) -> Offsets:
    """Return the offset in UTF-8 of each code point of `text`, and of the end of `text`.

    A lone surrogate stands for one byte, as with Python's "surrogateescape".
    """
    return _offsets(text, "byte")


def _offsets(text: str, unit: Literal["byte", "utf16"]) -> Offsets:
    widths = widths_of(code_points_of(text), unit, from_str=False)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])


def _bounds(text: Text, errors: Errors, unit: Unit) -> tuple[Offsets, Offsets] | None:
    """Return the bounds of all elements in bytes and in `unit`; None if they are equal."""
    if not isinstance(text, str):
        text, errors = decode_utf8(bytes(text)), ESCAPE
    if text.isascii() and (unit != "grapheme" or "\r\n" not in text):
        return None
    joined = join_surrogates(text) if errors == "replace" else text
    in_bytes = byte_offsets(joined)
    if unit == "grapheme":
        firsts = np.append(grapheme_starts(joined), len(joined))
        return in_bytes[firsts], np.arange(len(firsts))
    if unit == "utf16":
        return in_bytes, _offsets(joined, "utf16")
    if len(joined) == len(text):
        return in_bytes, np.arange(len(text) + 1)
    codes = code_points_of(text)
    # High surrogates are U+D800 to U+DBFF (0x36 << 10), low ones U+DC00 to U+DFFF.
    is_high, is_low = (codes[:-1] >> 10 == 0x36), (codes[1:] >> 10 == 0x37)
    is_second_of_pair = np.concatenate([[False], is_high & is_low])
    return in_bytes, np.append(np.flatnonzero(~is_second_of_pair), len(codes))
