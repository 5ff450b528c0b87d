"""Define CoreBPE, the object in Rust that an Encoding of tiktoken calls."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bpe.compat.tiktoken.encoding import Encoding


class CoreBPE:
    """The methods of tiktoken's CoreBPE, which take special tokens as a set, and refuse no text.

    Raises UnicodeEncodeError for any surrogate in a text.
    """

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self.decode_bytes = encoding.decode_bytes
        self.decode_single_token_bytes = encoding.decode_single_token_bytes
        self.encode_ordinary = encoding._encode_only_native_bpe
        self.encode_single_piece = encoding._encode_single_piece
        self.encode_single_token = encoding.encode_single_token
        self.token_byte_values = encoding.token_byte_values
        self._encode_bytes = encoding._encode_bytes

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """Return the ids of `text`; any other special token is ordinary text."""
        ids: list[int] = self._array(text, allowed_special).tolist()
        return ids

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: AbstractSet[str]) -> memoryview:
        """Return the result of `encode` as a buffer of uint32."""
        return self._array(text, allowed_special).data

    def encode_with_unstable(
        self, text: str, allowed_special: AbstractSet[str]
    ) -> tuple[list[int], list[list[int]]]:
        """Return the result of Encoding.encode_with_unstable."""
        allowed = _checked(allowed_special)
        return self._encoding.encode_with_unstable(
            text, allowed_special=allowed, disallowed_special=()
        )

    def _array(self, text: str, allowed_special: AbstractSet[str]) -> NDArray[np.uint32]:
        allowed = _checked(allowed_special)
        return self._encoding.encode_to_numpy(text, allowed_special=allowed, disallowed_special=())


def _checked(allowed_special: AbstractSet[str]) -> AbstractSet[str]:
    """Return a set of special tokens; raise TypeError for any other value, also for "all"."""
    if not isinstance(allowed_special, AbstractSet):
        raise TypeError(
            f"allowed_special is of type {type(allowed_special).__name__}; expected a set of str"
        )
    return allowed_special
