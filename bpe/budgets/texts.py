"""Convert between texts and their UTF-8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bpe.encoding.arguments import validate_text
from bpe.encoding.offsets import UnitOffsets, byte_offsets
from bpe.encoding.utf8 import decode_utf8, encode_utf8, has_surrogates
from bpe.types import Errors, Offsets
from pretok.unicode.graphemes import grapheme_starts


def _encoded(text: str) -> bytes | None:
    """Return a text as UTF-8, or None if it has surrogates."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


class Utf8:
    """A text, its UTF-8 as `data`, and the conversion of offsets. `errors` is as in Tokenizer."""

    def __init__(
        self, text: str | bytes, errors: Errors, encode: Callable[[str], bytes | None] | None = None
    ) -> None:
        """Raises the errors of validate_text.

        `encode` returns the UTF-8 of a str faster than Python, or None if it has surrogates.
        """
        self.text = text
        valid = validate_text(text, errors)
        known = valid if isinstance(valid, bytes) else (encode or _encoded)(valid)
        has_escapes = known is None
        self.data = data = encode_utf8(valid) if known is None else known
        if isinstance(text, str) and isinstance(valid, bytes):
            has_escapes = has_surrogates(text)
        self.errors = errors
        self.is_str = isinstance(text, str)
        # Offsets are equal if each character is one byte.
        self.is_same = not self.is_str or (len(text) == len(data) and data.isascii())
        self._last = (0, 0)
        # UTF-8 of a str is valid, unless it has the bytes of "surrogateescape".
        self.is_valid = self.is_str
        # A text with surrogates differs from the text that `data` decodes to.
        self._offsets: UnitOffsets | None = None
        if isinstance(text, str) and has_escapes:
            self._offsets = UnitOffsets(text, errors)
            self.is_valid = errors == "replace"

    @property
    def has_offsets(self) -> bool:
        """True if the characters of the text are those of `data`."""
        return self._offsets is None

    def move(self, place: int, char: int) -> None:
        """Make `char` fast near byte `place`, at which the character at `char` starts."""
        self._last = place, char

    def part_at(self, start: int, end: int) -> tuple[str | bytes, int, int]:
        """Return the text from byte `start` to byte `end`, and its offsets in the text."""
        if self.is_same:
            return (self.text if self.is_str else self.data)[start:end], start, end
        if self._offsets is not None:
            return self.part(start, end), self.char(start), self.char(end)
        first = self.char(start)
        text = self.data[start:end].decode()
        self._last = end, first + len(text)
        return text, first, first + len(text)

    def part(self, start: int, end: int) -> str | bytes:
        """Return the text from byte `start` to byte `end`."""
        if not self.is_str:
            return self.data[start:end]
        assert isinstance(self.text, str), "_is_str"
        if not self.is_same:
            start, end = self.char(start), self.char(end)
        return self.text[start:end]

    def char(self, place: int) -> int:
        """Return the offset in the text of a byte at which a character starts.

        Fast if `place` is near the last one.
        """
        if self.is_same:
            return place
        if self._offsets is not None:
            return int(self._offsets.starts(np.array([place]))[0])
        byte, char = self._last
        if place >= byte:
            char += len(self.data[byte:place].decode())
        else:
            char -= len(self.data[place:byte].decode())
        self._last = place, char
        return char

    def bytes_of(self, chars: Offsets) -> Offsets:
        """Return the offsets in UTF-8 of offsets in the text."""
        if self.is_same:
            return chars
        assert isinstance(self.text, str), "is_same"
        return UnitOffsets(self.text, self.errors).bytes_of(chars)

    def graphemes(self) -> Offsets:
        """Return the start of each grapheme in bytes, and the end of the text."""
        text = decode_utf8(self.data)
        offsets: Offsets = byte_offsets(text)[np.append(grapheme_starts(text), len(text))]
        return offsets
