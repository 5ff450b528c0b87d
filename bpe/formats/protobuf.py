"""Read and write protobuf messages: just enough for SentencePiece models."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from bpe.errors import VocabularyError

Field: TypeAlias = "tuple[int, int | bytes]"
"""The number of a field and its value: an int for a varint, else bytes."""

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_SIZES = {FIXED64: 8, FIXED32: 4}


def fields(message: bytes, name: str) -> Iterator[Field]:
    """Yield the fields of `message` in order, in linear time; an int has at most 64 bits.

    Raises VocabularyError if the message is malformed; the error calls the message `name`.

    >>> list(fields(bytes([8, 150, 1, 18, 2]) + b"ab", "the message"))
    [(1, 150), (2, b'ab')]
    """
    at = 0
    while at < len(message):
        start = at
        tag, at = _short(message, at, name)
        number, wire_type = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise VocabularyError(f"{name} has field number {number} at byte {start}; {_DAMAGED}")
        if wire_type == VARINT:
            value, at = _varint(message, at, name)
            yield number, value
            continue
        if wire_type == LENGTH:
            size, at = _short(message, at, name)
        elif wire_type in _SIZES:
            size = _SIZES[wire_type]
        else:
            raise VocabularyError(
                f"{name} has a field of wire type {wire_type} at byte {start}; {_DAMAGED}"
            )
        if size > len(message) - at:
            raise VocabularyError(
                f"{name} has a field of {size} bytes at byte {start}, but only "
                f"{len(message) - at} bytes follow; {_DAMAGED}"
            )
        yield number, message[at : at + size]
        at += size


_DAMAGED = "the file is damaged or truncated"


def _short(message: bytes, at: int, name: str) -> tuple[int, int]:
    """Return the varint at `at`, and the index after it, like `_varint`.

    Most varints are of one byte, and this function reads them faster.
    """
    if at < len(message) and message[at] < 0x80:
        return message[at], at + 1
    return _varint(message, at, name)


def _varint(message: bytes, at: int, name: str) -> tuple[int, int]:
    """Return the varint at `at`, and the index after it."""
    value = 0
    for shift in range(0, 70, 7):
        if at == len(message):
            raise VocabularyError(f"{name} ends within a number; {_DAMAGED}")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise VocabularyError(f"{name} has a number of more than 10 bytes; {_DAMAGED}")


def message(listed: Iterable[tuple[int, int | float | bytes]]) -> bytes:
    """Return the message of these fields; a float becomes 32 bits.

    >>> message([(1, 150), (2, b"ab")]) == bytes([8, 150, 1, 18, 2]) + b"ab"
    True
    """
    parts = []
    for number, value in listed:
        if isinstance(value, int):
            parts += [_to_varint(number << 3 | VARINT), _to_varint(value)]
        elif isinstance(value, float):
            parts += [_to_varint(number << 3 | FIXED32), struct.pack("<f", value)]
        else:
            parts += [_to_varint(number << 3 | LENGTH), _to_varint(len(value)), value]
    return b"".join(parts)


def _to_varint(number: int) -> bytes:
    data = bytearray()
    while number >= 0x80:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)
