"""Write the keys and values of GGUF metadata, and copy those of a file."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_U32, _I32, _F32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_VERSION = 3

GgufValue: TypeAlias = "bool | int | str | Sequence[str] | NDArray[np.int32] | NDArray[np.float32]"
"""A value that can be written: an int is a uint32."""


def entry(key: str, value: GgufValue) -> bytes:
    """Return the bytes of a key and its value, little-endian."""
    if isinstance(value, bool):
        return _string(key) + struct.pack("<I?", _BOOL, value)
    if isinstance(value, int):
        return _string(key) + struct.pack("<II", _U32, value)
    if isinstance(value, str):
        return _string(key) + struct.pack("<I", _STRING) + _string(value)
    if isinstance(value, np.ndarray):
        kind = _F32 if value.dtype == np.float32 else _I32
        head = struct.pack("<IIQ", _ARRAY, kind, len(value))
        return _string(key) + head + value.astype(value.dtype.newbyteorder("<")).tobytes()
    head = struct.pack("<IIQ", _ARRAY, _STRING, len(value))
    return b"".join([_string(key), head, *map(_string, value)])


def file_of(entries: Iterable[bytes]) -> bytes:
    """Return a GGUF file with the results of `entry`, and without tensors."""
    listed = list(entries)
    return b"".join([b"GGUF", struct.pack("<IQQ", _VERSION, 0, len(listed)), *listed])


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
