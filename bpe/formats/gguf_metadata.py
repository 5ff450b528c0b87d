"""The metadata of a GGUF file, which comes before the tensors: keys with values of any kind."""

from __future__ import annotations

import io
import os
from collections.abc import Collection
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import Any, BinaryIO

import numpy as np

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.files import MOST_BYTES, opened
from bpe.vocabulary import ID_LIMIT

MAGIC = b"GGUF"
VERSIONS = (2, 3)

_U32, _BOOL, _STRING, _ARRAY, _U64 = 4, 7, 8, 9, 10
_CODES = {0: "B", 1: "b", 2: "H", 3: "h", _U32: "I", 5: "i", 6: "f", _BOOL: "B", _U64: "Q",
          11: "q", 12: "d"}  # fmt: skip
"""The kinds of one number each, as `struct` and numpy call them."""

_MOST_KEY_BYTES = 65535
_LEAST_ENTRY_BYTES = 8 + 4 + 1
_MOST_KEYS = 1 << 16
"""Real files have less than a hundred."""
_BLOCK = 1 << 20
"""So many bytes are read at once."""


def is_gguf(path: Path) -> bool:
    """Return whether a file begins as a GGUF file does; raises OSError."""
    if not path.is_file():
        return False
    with opened(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def load(path: Path, wanted: Collection[str]) -> dict[str, Any]:
    """Return what `parse` does of a file, of which nothing after the metadata is read.

    Raises what `parse` does; OSError.
    """
    with opened(path) as file:
        return _Reader(file, os.fstat(file.fileno()).st_size).values(wanted)


def parse(data: bytes, wanted: Collection[str]) -> dict[str, Any]:
    """Return the values of those of the `wanted` keys that the metadata has.

    `data` is a file, or its first MOST_BYTES. Values are int, float, bool, str, or lists of them.
    Raises VocabularyError with key and offset if the metadata is cut off or malformed;
    UnsupportedError for another version. Takes time and space linear in the size of the metadata.
    """
    return _Reader(io.BytesIO(data), len(data)).values(wanted)


class _Reader:
    """Reads values from `at` on, in the byte order of the file; errors say of which `key`.

    Reads the file from front to back, block by block, and steps over what is not wanted. The file
    may shrink meanwhile: each read checks its size again.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = min(size, MOST_BYTES)
        self._window = b""
        """Bytes of the file from `_start` on."""
        self._start = self._at = len(MAGIC)
        self._key = "the version"
        # What is 2 or 3 in one byte order is a multiple of 65536 in the other.
        first = self._taken(4)
        self._at = self._start
        order = ">" if not any(first[:2]) else "<"
        self._numbers = {kind: Struct(order + code) for kind, code in _CODES.items()}
        self._types = {kind: np.dtype(order + code) for kind, code in _CODES.items()}

    def values(self, wanted: Collection[str]) -> dict[str, Any]:
        version = self._number(_U32)
        if version not in VERSIONS:
            raise UnsupportedError(
                f"this is GGUF version {version}; bpe reads versions 2 and 3, so convert the model "
                "again with a llama.cpp of today"
            )
        self._key = "the number of tensors"
        self._number(_U64)
        self._key = "the number of keys"
        start, count = self._at, self._number(_U64)
        if count > (self._size - self._at) // _LEAST_ENTRY_BYTES:
            raise self._malformed(f"{count}, for which the file has no room", start)
        if count > _MOST_KEYS:
            raise self._malformed(f"{count:,}, more than {_MOST_KEYS:,}", start)
        found: dict[str, Any] = {}
        seen: set[str] = set()
        for index in range(count):
            self._key = f"key {index} of {count}"
            start, key = self._at, self._text(_MOST_KEY_BYTES)
            if key in seen:
                raise self._malformed(f"{key[:80]!a}, which was there before", start)
            seen.add(key)
            self._key = key[:80] if key.isprintable() else ascii(key[:80])
            value = self._value(key in wanted)
            if key in wanted:
                found[key] = value
        return found

    def _value(self, wanted: bool) -> Any:
        """Return the value of a key, or None if it is not wanted."""
        kind = self._kind()
        if kind == _ARRAY:
            return self._array(wanted)
        if kind == _STRING and wanted:
            return self._text()
        if kind == _STRING:
            self._skip(self._number(_U64))
            return None
        number = self._number(kind)
        return self._flag(number) if kind == _BOOL else number

    def _array(self, wanted: bool) -> list[Any] | None:
        kind = self._kind()
        start, count = self._at, self._number(_U64)
        if kind == _ARRAY:
            raise UnsupportedError(f"{self._key} is an array of arrays, which bpe does not read")
        if count > ID_LIMIT and (wanted or kind == _STRING):
            raise self._malformed(f"an array of {count:,}, more than {ID_LIMIT:,}", start)
        if kind == _STRING:
            strings = self._strings(count, wanted)
            return self._decoded(strings) if wanted else None
        size = count * self._types[kind].itemsize
        if not wanted:
            self._skip(size)
            return None
        numbers: list[Any] = np.frombuffer(self._taken(size), self._types[kind]).tolist()
        return list(map(self._flag, numbers)) if kind == _BOOL else numbers

    def _strings(self, count: int, wanted: bool) -> list[bytes]:
        # There are many: a call for each would take most of the time.
        length_at = self._numbers[_U64].unpack_from
        found: list[bytes] = []
        add = found.append
        done = 0
        while done < count:
            data, at = self._window, self._at - self._start
            size = len(data)
            try:
                while done < count:
                    start = at + 8
                    (length,) = length_at(data, at)
                    if length > size - start:
                        break
                    at = start + length
                    if wanted:
                        add(data[start:at])
                    done += 1
            except StructError:  # the block ends in a length
                pass
            self._at = self._start + at
            if done < count:  # the next one goes on after the block
                array, self._key = self._key, f"{self._key}[{done}] of {count}"
                length = self._number(_U64)
                if wanted:
                    add(self._taken(length))
                else:
                    self._skip(length)
                self._key = array
                done += 1
        return found

    def _decoded(self, strings: list[bytes]) -> list[str]:
        found: list[str] = []
        try:
            found += map(bytes.decode, strings)
        except UnicodeDecodeError as problem:
            raise VocabularyError(
                f"{self._key}[{len(found)}] is {problem.object[:40]!r}, which is not UTF-8; the "
                "file is damaged"
            ) from None
        return found

    def _text(self, most: int = MOST_BYTES) -> str:
        start, length = self._at, self._number(_U64)
        if length > most:
            raise self._malformed(f"a string of {length:,} bytes, more than {most:,}", start)
        try:
            return self._taken(length).decode()
        except UnicodeDecodeError as problem:
            raise self._malformed(f"not UTF-8: {problem.reason}", start) from None

    def _kind(self) -> int:
        start = self._at
        kind: int = self._number(_U32)
        if kind not in _CODES and kind not in (_STRING, _ARRAY):
            raise self._malformed(f"of kind {kind}, which there is not", start)
        return kind

    def _number(self, kind: int) -> Any:
        number = self._numbers[kind]
        return number.unpack(self._taken(number.size))[0]

    def _flag(self, number: int) -> bool:
        if number > 1:
            raise self._malformed(f"the byte {number}; expected 0 or 1, for false or true")
        return bool(number)

    def _taken(self, length: int) -> bytes:
        start = self._at
        self._skip(length)
        if self._at > self._start + len(self._window):
            self._read_on(start)
        return self._window[start - self._start : self._at - self._start]

    def _read_on(self, start: int) -> None:
        """Put at least the bytes from `start` to `_at` into the window."""
        end = self._start + len(self._window)
        kept = self._window[start - self._start :] if start < end else b""
        parts = [kept]
        end = max(start, end)
        if start == end:
            self._file.seek(start)
        wanted = max(self._at, min(start + _BLOCK, self._size))
        while end < wanted:
            part = self._file.read(wanted - end)
            if not part:
                self._size = end
                break
            parts.append(part)
            end += len(part)
        self._window, self._start = b"".join(parts), start
        if end < self._at:
            length, self._at = self._at - start, start
            self._skip(length)  # which raises

    def _skip(self, length: int) -> None:
        if length > self._size - self._at:
            room = "of a model's metadata" if self._size == MOST_BYTES else "of the file"
            raise VocabularyError(
                f"{self._key} has {length:,} bytes from offset {self._at:,} on, but the end {room} "
                f"is at {self._size:,}; the file is cut off or damaged"
            )
        self._at += length

    def _malformed(self, what: str, offset: int | None = None) -> VocabularyError:
        at = self._at if offset is None else offset
        return VocabularyError(f"{self._key}, at offset {at:,}, is {what}; the file is damaged")
