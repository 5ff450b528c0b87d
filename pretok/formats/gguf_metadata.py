"""Read the metadata of a GGUF file: keys and values, which precede the tensors."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import Any, cast

import numpy as np

from pretok.errors import UnreadableFileError, UnsupportedFileError
from pretok.files import opened

MAGIC = b"GGUF"
VERSIONS = (2, 3)

MAX_METADATA = 1 << 29
"""Maximum bytes of the metadata; published files have a tenth of this number."""

_U32, _BOOL, _STRING, _ARRAY, _U64 = 4, 7, 8, 9, 10
_CODES = {0: "B", 1: "b", 2: "H", 3: "h", _U32: "I", 5: "i", 6: "f", _BOOL: "B", _U64: "Q",
          11: "q", 12: "d"}  # fmt: skip
"""Maps the code of a GGUF number type to the format character of the type in `struct` and numpy."""

_MAX_KEY_BYTES = 65535
_MIN_ENTRY_BYTES = 8 + 4 + 1
"""Minimum bytes of a key and its value: the length of the key, the type of the value, the value."""
_MAX_KEYS = 1 << 16
"""Maximum keys of a file; published files have fewer than a hundred."""
_MAX_ITEMS = 1 << 24
"""Maximum items of an array; every published vocabulary has fewer tokens."""
_MAX_DIMENSIONS = 8
_BLOCK = 1 << 20
"""Number of bytes of one read."""


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Yield a Reader of the file `path`.

    Raises UnreadableFileError if the file is not GGUF or not a regular file, and OSError if the
    system cannot open or read the file.
    """
    with opened(path) as raw, io.BufferedReader(cast("io.RawIOBase", raw), _BLOCK) as file:
        if not file.peek().startswith(MAGIC):
            raise UnreadableFileError("this is not a GGUF file: it does not begin with GGUF")
        yield Reader(file, os.fstat(file.fileno()).st_size)


def load(path: Path, wanted: Collection[str]) -> dict[str, Any]:
    """Return the values of the `wanted` keys that the metadata of the file `path` has.

    Raises the errors of `reading` and of `Reader.values`.
    """
    with reading(path) as reader:
        return reader.values(wanted)


class Reader:
    """Reads values in the byte order of the file. Errors name the current key and its offset.

    Reads the file from the start on in blocks, and skips unwanted values. The file may shrink
    meanwhile, so each read checks the size again.
    """

    def __init__(self, file: io.BufferedReader[Any], size: int) -> None:
        self._file = file
        self.file_size = size
        self._size = min(size, MAX_METADATA)
        self._at = 0
        self._key = "the version"
        self._take(len(MAGIC))
        # The version is 2 or 3, so the first two of its four bytes are zero only if the byte order
        # is big-endian.
        first = self._take(4)
        self.is_little_endian = any(first[:2])
        order = "<" if self.is_little_endian else ">"
        self._numbers = {type_code: Struct(order + code) for type_code, code in _CODES.items()}
        self._types = {type_code: np.dtype(order + code) for type_code, code in _CODES.items()}
        self.version: int = self._numbers[_U32].unpack(first)[0]
        self.tensors = 0
        """The number of tensors, after `values`."""
        self.entries: list[tuple[str, int, int]] = []
        """Each key, and where it starts and its value ends, after `values`."""

    @property
    def at(self) -> int:
        """The offset up to which the file was read."""
        return self._at

    def values(self, wanted: Collection[str]) -> dict[str, Any]:
        """Return the values of the `wanted` keys that the metadata has.

        A value is an int, a float, a bool, a str, or a list of such values. The time and the memory
        are linear in the size of the metadata. Raises UnreadableFileError with key and offset if
        the metadata is truncated or malformed, and UnsupportedFileError for an unknown version or
        an array of arrays.
        """
        version = self.version
        if version not in VERSIONS:
            raise UnsupportedFileError(
                f"this is GGUF version {version}; expected 2 or 3; convert the model again with a "
                "current llama.cpp"
            )
        self._key = "the number of tensors"
        self.tensors = self._number(_U64)
        self._key = "the number of keys"
        start, count = self._at, self._number(_U64)
        if count > (self._size - self._at) // _MIN_ENTRY_BYTES:
            raise self._malformed(f"{count}, more than the file can hold", start)
        if count > _MAX_KEYS:
            raise self._malformed(f"{count:,}, more than {_MAX_KEYS:,}", start)
        values: dict[str, Any] = {}
        seen: set[str] = set()
        for index in range(count):
            self._key = f"key {index} of {count}"
            start, key = self._at, self._text(_MAX_KEY_BYTES)
            if key in seen:
                raise self._malformed(f"{key[:80]!a}, which is a duplicate", start)
            seen.add(key)
            self._key = key[:80] if key.isprintable() else ascii(key[:80])
            value = self._value(key in wanted)
            if key in wanted:
                values[key] = value
            self.entries.append((key, start, self._at))
        return values

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each tensor by its name, after `values`."""
        shapes = {}
        for index in range(self.tensors):
            self._key = f"tensor {index} of {self.tensors}"
            name = self._text(_MAX_KEY_BYTES)
            start, dimensions = self._at, self._number(_U32)
            if dimensions > _MAX_DIMENSIONS:
                raise self._malformed(f"of {dimensions} dimensions", start)
            shapes[name] = tuple(self._number(_U64) for _ in range(dimensions))
            self._skip(4 + 8)  # the type and the offset
        return shapes

    def head(self) -> bytes:
        """Return all bytes that were read, once more."""
        self._file.seek(0)
        size, self._at = self._at, 0
        return self._take(size)

    def _value(self, wanted: bool) -> Any:
        """Read the value of a key and return it; may skip it and return None if not `wanted`."""
        type_code = self._type()
        if type_code == _ARRAY:
            return self._array(wanted)
        if type_code == _STRING and wanted:
            return self._text()
        if type_code == _STRING:
            self._skip(self._number(_U64))
            return None
        number = self._number(type_code)
        return self._flag(number) if type_code == _BOOL else number

    def _array(self, wanted: bool) -> list[Any] | None:
        type_code = self._type()
        start, count = self._at, self._number(_U64)
        if type_code == _ARRAY:
            raise UnsupportedFileError(
                f"{self._key} is an array of arrays; expected an array of numbers or strings"
            )
        if count > _MAX_ITEMS and (wanted or type_code == _STRING):
            raise self._malformed(f"an array of {count:,}, more than {_MAX_ITEMS:,}", start)
        if type_code == _STRING:
            strings = self._strings(count, wanted)
            return self._decode(strings) if wanted else None
        size = count * self._types[type_code].itemsize
        if not wanted:
            self._skip(size)
            return None
        numbers: list[Any] = np.frombuffer(self._take(size), self._types[type_code]).tolist()
        return list(map(self._flag, numbers)) if type_code == _BOOL else numbers

    def _strings(self, count: int, wanted: bool) -> list[bytes]:
        """Read the next `count` strings; return them if `wanted`, else an empty list."""
        length_at = self._numbers[_U64].unpack_from
        values: list[bytes] = []
        done, array = 0, self._key
        while done < count:
            # Read all whole strings of the buffer in this loop, because a call of `_number` for
            # each string would take most of the time.
            data, at = self._file.peek(), 0
            with suppress(StructError):  # the buffer ends inside a length
                while done < count:
                    (length,) = length_at(data, at)
                    end = at + 8 + length
                    if end > len(data):
                        break
                    if wanted:
                        values.append(data[at + 8 : end])
                    at = end
                    done += 1
            self._skip(at)
            if done < count:  # the buffer ends inside the next string
                self._key = f"{array}[{done}] of {count}"
                length = self._number(_U64)
                if wanted:
                    values.append(self._take(length))
                else:
                    self._skip(length)
                done += 1
            self._key = array
        return values

    def _decode(self, strings: list[bytes]) -> list[str]:
        """Return the strings of an array as str."""
        values: list[str] = []
        try:
            values += map(bytes.decode, strings)
        except UnicodeDecodeError as problem:
            raise UnreadableFileError(
                f"{self._key}[{len(values)}] is {problem.object[:40]!r}, which is not UTF-8; the "
                "file is damaged"
            ) from None
        return values

    def _text(self, max_bytes: int = MAX_METADATA) -> str:
        start, length = self._at, self._number(_U64)
        if length > max_bytes:
            raise self._malformed(f"a string of {length:,} bytes, more than {max_bytes:,}", start)
        try:
            return self._take(length).decode()
        except UnicodeDecodeError as problem:
            raise self._malformed(f"not UTF-8: {problem.reason}", start) from None

    def _type(self) -> int:
        start = self._at
        type_code: int = self._number(_U32)
        if type_code not in _CODES and type_code not in (_STRING, _ARRAY):
            raise self._malformed(f"of unknown type {type_code}", start)
        return type_code

    def _number(self, type_code: int) -> Any:
        number = self._numbers[type_code]
        return number.unpack(self._take(number.size))[0]

    def _flag(self, number: int) -> bool:
        """Return the value of a bool, whose byte must be 0 or 1."""
        if number > 1:
            raise self._malformed(f"the byte {number}; expected 0 (false) or 1 (true)")
        return bool(number)

    def _take(self, length: int) -> bytes:
        """Return the next `length` bytes."""
        data = self._file.read(length) if length <= self._size - self._at else b""
        if len(data) < length:
            raise self._truncated(length)
        self._at += length
        return data

    def _skip(self, length: int) -> None:
        """Skip `length` bytes."""
        if length > self._size - self._at:
            raise self._truncated(length)
        self._file.seek(length, os.SEEK_CUR)
        self._at += length

    def _truncated(self, length: int) -> UnreadableFileError:
        """Return the error if the metadata has fewer than `length` bytes left."""
        if length <= self._size - self._at:  # the file has shrunk
            self._size = self._at
        limit = "metadata is limited to" if self._size == MAX_METADATA else "the file has only"
        return UnreadableFileError(
            f"{self._key} needs {length:,} bytes at offset {self._at:,}, but {limit} "
            f"{self._size:,} bytes; the file is truncated or damaged"
        )

    def _malformed(self, problem: str, offset: int | None = None) -> UnreadableFileError:
        """Return the error for the current key, whose value is `problem`, such as "not UTF-8"."""
        at = self._at if offset is None else offset
        return UnreadableFileError(
            f"{self._key}, at offset {at:,}, is {problem}; the file is damaged"
        )
