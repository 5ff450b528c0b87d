"""Map bytes to characters as GPT-2 does, for byte-level vocabularies and ByteLevel."""

from __future__ import annotations

from itertools import count

_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_substitutes = count(0x100)

BYTE_CHARACTERS: tuple[str, ...] = tuple(
    chr(byte if byte in _PRINTABLE else next(_substitutes)) for byte in range(256)
)
"""The character of each byte: its Latin-1 character if printable, else one from U+0100 on."""
