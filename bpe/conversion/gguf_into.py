"""Put a tokenizer into a GGUF file with tensors, in place of its own."""

from __future__ import annotations

import io
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import gguf_values, gguf_writer
from bpe.formats.files import named, opened
from bpe.formats.gguf_values import GgufValue
from bpe.formats.spec import TokenizerSpec
from pretok.errors import short_path
from pretok.formats import gguf_metadata

_ALIGNMENT = "general.alignment"
_USUAL_ALIGNMENT = 32
_TOKENS = "tokenizer.ggml.tokens"
_OWN = ("tokenizer.ggml.", "tokenizer.huggingface.", "tokenizer.rwkv.")
"""The starts of the keys of a tokenizer."""
_TEMPLATE = "tokenizer.chat_template"
_BLOCK = 1 << 20
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""The size of a value by the code of its type."""
_STRING, _ARRAY = 8, 9
_MAX_DIMENSIONS = 8


@dataclass(frozen=True)
class GgufModel:
    """The parts of a new GGUF file: new metadata, and the tensors of another file."""

    source: Path
    entries: tuple[bytes, ...]
    """The keys and values of the new file, in order."""
    version: int
    tensors: int
    infos: bytes
    """The names, shapes and offsets of the tensors."""
    alignment: int
    data_start: int
    """The place of the data of tensors in `source`."""
    data_size: int
    """The number of bytes of this data."""

    @staticmethod
    def check_replaced(path: Path) -> None:
        """Raise VocabularyError if `path` is a GGUF file with tensors, which would be lost."""
        if not path.is_file():
            return
        with opened(path) as file:
            head = file.read(16)
        if head.startswith(gguf_metadata.MAGIC) and any(head[8:16]):
            raise VocabularyError(
                "this GGUF file has tensors, which would be lost; pass into= with the same path to "
                "replace only its tokenizer, or choose another path"
            )

    @classmethod
    def of(cls, source: Path, spec: TokenizerSpec) -> GgufModel:
        """Return the file `source` with the tokenizer `spec`.

        Raises VocabularyError if `source` is malformed or has fewer tokens than `spec`, because
        the model has an embedding for each token; unused tokens fill the rest.
        """
        with named(source), opened(source) as file:
            return _Reader(file).model(source, spec)

    def head_only(self) -> bytes:
        """Return a GGUF file with the metadata, and without tensors."""
        return gguf_values.file_of(self.entries)

    def write(self, file: BinaryIO) -> None:
        """Write the file; copy the data of the tensors in blocks.

        Raises VocabularyError if `source` has changed its size meanwhile.
        """
        head = struct.pack("<IQQ", self.version, self.tensors, len(self.entries))
        size = 0
        for part in (gguf_metadata.MAGIC, head, *self.entries, self.infos):
            file.write(part)
            size += len(part)
        if not self.data_size:
            return
        file.write(bytes(-size % self.alignment))
        with opened(self.source) as old:
            old.seek(self.data_start)
            copied = 0
            while block := old.read(_BLOCK):
                file.write(block)
                copied += len(block)
        if copied != self.data_size:
            raise VocabularyError(
                f"{short_path(self.source)}: the file has changed while it was copied; try again"
            )


class _Reader:
    """Reads the metadata of a GGUF file, and keeps the bytes of each part."""

    def __init__(self, file: BinaryIO) -> None:
        self._size = os.fstat(file.fileno()).st_size
        self._file = io.BufferedReader(cast("io.RawIOBase", file), _BLOCK)
        self._at = 0
        self._part = bytearray()
        """The bytes since the start of the current entry."""

    def model(self, source: Path, spec: TokenizerSpec) -> GgufModel:
        """Return the file `source` with the tokenizer `spec`."""
        # `load` checks the metadata; its errors name the key and the offset.
        known = gguf_metadata.load(source, (_TOKENS, _ALIGNMENT))
        tokens, alignment = known.get(_TOKENS), known.get(_ALIGNMENT, _USUAL_ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 8 or alignment % 8:
            raise VocabularyError(f"{_ALIGNMENT} is {alignment!r}; expected a multiple of 8")
        count = len(tokens) if isinstance(tokens, list) else 0
        values = gguf_writer.metadata(spec, count)
        self._check_count(values[_TOKENS], count)
        self._take(len(gguf_metadata.MAGIC))
        version = self._number("I")
        if version not in gguf_metadata.VERSIONS:
            raise UnsupportedError(
                "expected a little-endian GGUF file of version 2 or 3; convert the model again "
                "with a current llama.cpp"
            )
        tensors, keys = self._number("Q"), self._number("Q")
        entries = self._replaced(keys, values)
        infos = self._infos(tensors)
        start = self._at + -self._at % alignment
        size = max(self._size - start, 0)
        self._file.detach()
        return GgufModel(source, tuple(entries), version, tensors, infos, alignment, start, size)

    @staticmethod
    def _check_count(tokens: object, count: int) -> None:
        size = len(tokens) if isinstance(tokens, list) else 0
        if count and size > count:
            raise VocabularyError(
                f"the model has {count} tokens, but the tokenizer has {size}, and the model has no "
                "embeddings for the others; expected a tokenizer with at most as many ids"
            )

    def _replaced(self, count: int, values: dict[str, GgufValue]) -> list[bytes]:
        """Return the next `count` entries, with `values` in place of those of the tokenizer."""
        entries: list[bytes] = []
        place: int | None = None
        for _ in range(count):
            key, entry = self._entry()
            is_own = key.startswith(_OWN) or (key == _TEMPLATE and key in values)
            if not is_own:
                entries.append(entry)
            elif place is None:
                place = len(entries)
        at = len(entries) if place is None else place
        entries[at:at] = [gguf_values.entry(key, value) for key, value in values.items()]
        return entries

    def _entry(self) -> tuple[str, bytes]:
        """Read a key and its value; return the key, and the bytes of both."""
        self._part.clear()
        key = self._text()
        kind = self._number("I")
        if kind == _ARRAY:
            kind, count = self._number("I"), self._number("Q")
            if kind == _STRING:
                for _ in range(count):
                    self._text()
            else:
                self._take(count * _SIZES[kind])
        elif kind == _STRING:
            self._text()
        else:
            self._take(_SIZES[kind])
        return key, bytes(self._part)

    def _infos(self, count: int) -> bytes:
        self._part.clear()
        for _ in range(count):
            self._text()
            dimensions = self._number("I")
            if dimensions > _MAX_DIMENSIONS:
                raise VocabularyError(f"a tensor has {dimensions} dimensions; the file is damaged")
            self._take(8 * dimensions + 4 + 8)  # the shape, the type and the offset
        return bytes(self._part)

    def _text(self) -> str:
        return self._take(self._number("Q")).decode("utf-8", "replace")

    def _number(self, code: str) -> int:
        (number,) = struct.unpack(f"<{code}", self._take(struct.calcsize(code)))
        return int(number)

    def _take(self, size: int) -> bytes:
        data = self._file.read(size) if size <= self._size - self._at else b""
        if len(data) != size:
            raise VocabularyError("the file is truncated; download it again")
        self._at += size
        self._part += data
        return data
