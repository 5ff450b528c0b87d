"""Take apart tokens that begin or end in the middle of a character of UTF-8."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from bpe.encoding.utf8 import ESCAPE, has_surrogates

_MIN_SECOND = {0xE0: 0xA0, 0xF0: 0x90}
_MAX_SECOND = {0xED: 0x9F, 0xF4: 0x8F}


class Parts(NamedTuple):
    """The parts of a token: (head, text, tail).

    `head` ends a character that begins before the token, and `tail` begins a character that ends
    after the token. `head` alone may also be the middle of a character. In `text`, a surrogate
    stands for a byte that is never part of valid UTF-8 there.
    """

    head: bytes
    text: str
    tail: bytes

    @property
    def is_valid(self) -> bool:
        """True if some valid UTF-8 has these bytes."""
        return not has_surrogates(self.text)

    @property
    def is_whole(self) -> bool:
        """True if the token is valid UTF-8."""
        return not self.head and not self.tail and self.is_valid

    @property
    def is_inner(self) -> bool:
        """True if the token may lie inside one character."""
        return bool(self.head) and not self.text and not self.tail


def parts_of(token: bytes) -> Parts:
    r"""Return the parts of a token.

    >>> parts_of(b"\xa9 a\xc3")
    Parts(head=b'\xa9', text=' a', tail=b'\xc3')
    >>> parts_of(b"a\xa9").is_valid
    False
    """
    if token.isascii():
        return Parts(b"", token.decode(), b"")
    size = 0
    while size < min(3, len(token)) and token[size] & 0xC0 == 0x80:
        size += 1
    head, rest = token[:size], token[size:]
    tail = b""
    for length in range(1, min(3, len(rest)) + 1):
        if rest[-length] & 0xC0 != 0x80:
            if is_prefix(rest[-length:]):
                tail = rest[-length:]
            break
    return Parts(head, rest[: len(rest) - len(tail)].decode("utf-8", ESCAPE), tail)


@lru_cache(maxsize=1 << 16)
def is_character(data: bytes) -> bool:
    """Return whether `data` is the UTF-8 of one character."""
    return 2 <= len(data) <= 4 and is_prefix(data[:-1], len(data)) and data[-1] & 0xC0 == 0x80


def is_prefix(data: bytes, size: int = 0) -> bool:
    """Return whether a character of `size` bytes, or of any size, continues after `data`."""
    lead = data[0]
    full = 2 if 0xC2 <= lead < 0xE0 else 3 if 0xE0 <= lead < 0xF0 else 4
    if not 0xC2 <= lead <= 0xF4 or not len(data) < full or size not in (0, full):
        return False
    if len(data) > 1 and not (
        _MIN_SECOND.get(lead, 0x80) <= data[1] <= _MAX_SECOND.get(lead, 0xBF)
    ):
        return False
    return all(byte & 0xC0 == 0x80 for byte in data[1:])


@lru_cache(maxsize=256)
def completions(part: bytes, is_tail: bool) -> frozenset[str]:
    r"""Return all characters that end with `part`, or begin with it if `is_tail`.

    >>> sorted(completions(b"\xc2", is_tail=True))[-1]
    '¿'
    """
    if is_tail:
        size = 2 if part[0] < 0xE0 else 3 if part[0] < 0xF0 else 4
        bits = part[0] & (0x7F >> size)
        for byte in part[1:]:
            bits = bits << 6 | byte & 0x3F
        width = 6 * (size - len(part))
        points: Iterable[int] = range(bits << width, (bits + 1) << width)
    else:
        low = 0
        for byte in part:
            low = low << 6 | byte & 0x3F
        points = range(low, 0x110000, 1 << 6 * len(part))
    chars = (chr(point) for point in points if point < 0x110000 and not 0xD800 <= point < 0xE000)
    return frozenset(
        char
        for char in chars
        if (char.encode().startswith(part) if is_tail else char.encode().endswith(part))
    )
