"""GPT-2's way to write bytes as characters: tokenizer.json, vocab.json and merges.txt have it.

Bytes that are printable in Latin-1 stand for themselves, the others for U+0100 and up in order.
"""

from __future__ import annotations

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

_CHARACTERS = {byte: byte for byte in _PRINTABLE} | {
    byte: 0x100 + place for place, byte in enumerate(_OTHERS)
}
# Latin-1 characters that stand for no byte must not become one.
_NO_BYTE = 0x100
_BYTES = dict.fromkeys(_OTHERS, _NO_BYTE) | {char: byte for byte, char in _CHARACTERS.items()}


def to_text(token: bytes) -> str:
    r"""Return the characters that stand for the bytes of `token`.

    >>> to_text(b" a\n")
    'ĠaĊ'
    """
    return token.decode("latin-1").translate(_CHARACTERS)


def to_bytes(text: str) -> bytes | None:
    """Return the bytes that the characters of `text` stand for; None if one stands for none.

    >>> to_bytes("Ġa"), to_bytes(" a")
    (b' a', None)
    """
    try:
        return text.translate(_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return None
