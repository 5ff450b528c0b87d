"""Put a tokenizer into a GGUF file with tensors, in place of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

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
        with named(source), gguf_metadata.reading(source) as reader:
            known = reader.values((_TOKENS, _ALIGNMENT))
            tokens, alignment = known.get(_TOKENS), known.get(_ALIGNMENT, _USUAL_ALIGNMENT)
            if not isinstance(alignment, int) or alignment < 8 or alignment % 8:
                raise VocabularyError(f"{_ALIGNMENT} is {alignment!r}; expected a multiple of 8")
            if not reader.is_little_endian:
                raise UnsupportedError(
                    "expected a little-endian GGUF file; convert the model again with a current "
                    "llama.cpp"
                )
            count = len(tokens) if isinstance(tokens, list) else 0
            values = gguf_writer.metadata(spec, count)
            _check_count(values[_TOKENS], count)
            infos_at = reader.at
            reader.skip_infos()
            head = reader.head()
            start = len(head) + -len(head) % alignment
            return cls(
                source, tuple(_replaced(head, reader.entries, values)), reader.version,
                reader.tensors, head[infos_at:], alignment, start,
                max(reader.file_size - start, 0),
            )  # fmt: skip

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


def _check_count(tokens: object, count: int) -> None:
    size = len(tokens) if isinstance(tokens, list) else 0
    if count and size > count:
        raise VocabularyError(
            f"the model has {count} tokens, but the tokenizer has {size}, and the model has no "
            "embeddings for the others; expected a tokenizer with at most as many ids"
        )


def _replaced(
    head: bytes, places: Iterable[tuple[str, int, int]], values: dict[str, GgufValue]
) -> list[bytes]:
    """Return the entries of `head`, with `values` in place of those of the tokenizer."""
    entries: list[bytes] = []
    at: int | None = None
    for key, start, end in places:
        is_own = key.startswith(_OWN) or (key == _TEMPLATE and key in values)
        if not is_own:
            entries.append(head[start:end])
        elif at is None:
            at = len(entries)
    new = [gguf_values.entry(key, value) for key, value in values.items()]
    at = len(entries) if at is None else at
    return [*entries[:at], *new, *entries[at:]]
