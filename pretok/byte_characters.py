"""GPT-2's way to write bytes as characters, which byte-level vocabularies and ByteLevel have."""

from __future__ import annotations

from itertools import count

_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_others = count(0x100)

BYTE_CHARACTERS: tuple[str, ...] = tuple(
    chr(byte if byte in _PRINTABLE else next(_others)) for byte in range(256)
)
"""The character of each byte: the same code point if it is printable in Latin-1, or the next from
U+0100 on."""
