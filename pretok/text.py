"""Define Text, the types that PreTokenizer and Tokenizer accept as a text, and its conversions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Text: TypeAlias = str | bytes | bytearray | memoryview
"""A str, or bytes that hold UTF-8."""

ESCAPE: Final = "surrogateescape"
"""Error handler for bytes: an invalid byte becomes a lone surrogate, of general category C."""


def as_str_or_bytes(text: object) -> str | bytes:
    """Return a str or bytes unchanged, a bytearray or memoryview as bytes; else raise TypeError."""
    if isinstance(text, (str, bytes)):
        return text
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    advice = "; split_batch takes a list of texts" if isinstance(text, Iterable) else ""
    raise TypeError(f"expected str or bytes, got {type(text).__name__}{advice}")


def as_str(text: object) -> str:
    """Return `text` as a str, with invalid UTF-8 escaped; raise TypeError if it is not a Text."""
    data = as_str_or_bytes(text)
    return data if isinstance(data, str) else data.decode("utf-8", ESCAPE)


def code_points_of(chars: str) -> NDArray[np.uint32]:
    """Return the code points of `chars`, lone surrogates included."""
    return np.frombuffer(chars.encode("utf-32-le", "surrogatepass"), dtype="<u4")
