"""Convert between str and UTF-8.

`decode_utf8` keeps an invalid byte as a lone surrogate. `encode_utf8` replaces a lone surrogate by
U+FFFD.
"""

from __future__ import annotations

from typing import TypeAlias

from pretok.text import ESCAPE as ESCAPE

MAX_CHAR = 4
"""The maximal number of bytes of a character in UTF-8."""

StrOrBytes: TypeAlias = str | bytes
"""A text as backends take it; bytes hold UTF-8."""


def encode_utf8(text: StrOrBytes) -> bytes:
    """Return `text` as UTF-8; join surrogate pairs and replace lone surrogates by U+FFFD."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError:
        return join_surrogates(text).encode()


def decode_utf8(data: bytes) -> str:
    """Return UTF-8 as a str, with a lone surrogate for each invalid byte."""
    return data.decode("utf-8", ESCAPE)


def has_surrogates(text: str) -> bool:
    """Return whether `text` holds surrogates, in pairs or alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def join_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    >>> join_surrogates("\\ud83d\\ude00 \\ud83d")
    '😀 �'
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
