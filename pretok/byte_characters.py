"""Map bytes to characters as GPT-2 does.

Byte-level vocabularies and ByteLevel of Hugging Face's tokenizers use this map.
"""

from __future__ import annotations

from itertools import count

_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_substitutes = count(0x100)

BYTE_CHARACTERS: tuple[str, ...] = tuple(
    chr(byte if byte in _PRINTABLE else next(_substitutes)) for byte in range(256)
)
"""Maps each byte to a character.

A byte whose Latin-1 character is printable and not a space maps to this Latin-1 character. The
other bytes, in ascending order, map to U+0100, U+0101 and so on.
"""
