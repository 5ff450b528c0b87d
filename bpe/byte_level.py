"""Convert the bytes of tokens to GPT-2's 256 characters, one for each byte value, and back.

Each of these characters is printable and no space: "Ġ" stands for the byte of a space.
tokenizer.json, vocab.json, merges.txt and GGUF store tokens in these characters.
cpp/core/unicode/byte_level.hpp is the C++ version.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate, pairwise

from pretok.byte_characters import BYTE_CHARACTERS

_CHARACTERS = {byte: ord(char) for byte, char in enumerate(BYTE_CHARACTERS)}
# A Latin-1 character that stands for no byte, such as the space, is translated to this code point.
# Latin-1 cannot encode it, so `to_bytes` returns None.
_NO_BYTE = 0x100
_BYTES = dict.fromkeys(range(0x100), _NO_BYTE) | {char: byte for byte, char in _CHARACTERS.items()}


def to_text(token: bytes) -> str:
    r"""Return the characters that stand for the bytes of `token`.

    >>> to_text(b" a\n")
    'ĠaĊ'
    """
    return token.decode("latin-1").translate(_CHARACTERS)


def to_bytes(text: str) -> bytes | None:
    """Return the bytes that the characters of `text` stand for.

    Return None if a character stands for no byte.

    >>> to_bytes("Ġa"), to_bytes(" a")
    (b' a', None)
    """
    try:
        return text.translate(_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return None


def all_to_bytes(texts: Collection[str]) -> list[bytes | None]:
    """Return the result of `to_bytes` for each text.

    >>> all_to_bytes(["Ġa", " a"])
    [b' a', None]
    """
    # Converting the joined texts at once is faster. Each character becomes one byte, so the
    # lengths of the texts are also the lengths of their bytes.
    joined = to_bytes("".join(texts))
    if joined is None:
        return list(map(to_bytes, texts))
    ends = [0, *accumulate(map(len, texts))]
    return [joined[start:end] for start, end in pairwise(ends)]
