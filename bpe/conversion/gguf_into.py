"""Put a tokenizer into a GGUF file with tensors, in place of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from bpe.byte_level import to_text
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import gguf_values, gguf_writer
from bpe.formats.files import named, opened
from bpe.formats.gguf_values import GgufValue
from bpe.formats.spec import TokenizerSpec
from bpe.token_facts import TokenType
from pretok.errors import short_path, shortened
from pretok.formats import gguf_metadata

_ALIGNMENT = "general.alignment"
_USUAL_ALIGNMENT = 32
_TOKENS = "tokenizer.ggml.tokens"
_TYPES = "tokenizer.ggml.token_type"
_TABLES = ("token_embd.weight", "output.weight")
"""The tensors that have a row for each token."""
_FREE = frozenset({TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNUSED})
"""The types of tokens whose ids a new token may take."""
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
    def of(cls, source: Path, spec: TokenizerSpec, rows_match: bool) -> GgufModel:
        """Return the file `source` with the tokenizer `spec`.

        Raises VocabularyError if `source` is malformed, if it has fewer rows than `spec` has ids,
        or if a token would get another row, unless `rows_match`. Unused tokens fill the rest.
        """
        with named(source), gguf_metadata.reading(source) as reader:
            known = reader.values((_TOKENS, _TYPES, _ALIGNMENT))
            alignment = known.get(_ALIGNMENT, _USUAL_ALIGNMENT)
            if not isinstance(alignment, int) or alignment < 8 or alignment % 8:
                raise VocabularyError(f"{_ALIGNMENT} is {alignment!r}; expected a multiple of 8")
            if not reader.is_little_endian:
                raise UnsupportedError(
                    "expected a little-endian GGUF file; convert the model again with a current "
                    "llama.cpp"
                )
            infos_at = reader.at
            shapes = reader.shapes()
            tokens = _list(known.get(_TOKENS))
            tables = [shapes[name] for name in _TABLES if len(shapes.get(name, ())) == 2]
            rows = min((shape[1] for shape in tables), default=len(tokens))
            values = gguf_writer.metadata(spec, rows)
            _check_count(_list(values[_TOKENS]), rows)
            if tables and not rows_match:
                _check_rows(_list(values[_TOKENS]), tokens, _list(known.get(_TYPES)))
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


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _check_count(tokens: list[str], rows: int) -> None:
    if rows and len(tokens) > rows:
        raise VocabularyError(
            f"the model has {rows} tokens, but the tokenizer has {len(tokens)}, and the model has "
            "no embeddings for the others; expected a tokenizer with at most as many ids, or a "
            "model whose embeddings were resized first"
        )


def _check_rows(tokens: list[str], old: list[str], types: list[int]) -> None:
    """Raise VocabularyError if a token of the model would get the row of another one.

    `old` and `types` are those of the model. An added or unused token may be replaced by a new one.
    """
    ids = dict(zip(old, range(len(old)), strict=True))
    moved = [
        id
        for id, (new, own) in enumerate(zip(tokens, old, strict=False))
        if new not in (own, to_text(own.encode()))  # some files have text in place of its bytes
        and new != gguf_writer.PADDING.format(id)
        and (new in ids or id >= len(types) or types[id] not in _FREE)
    ]
    if moved:
        id = moved[0]
        place = f"id {ids[tokens[id]]}" if tokens[id] in ids else "no id"
        plural = "s" * (len(moved) != 1)
        raise VocabularyError(
            f"{len(moved)} token{plural} would get the embeddings of other tokens: id {id} is "
            f"{shortened(tokens[id])}, which has {place} in the model, whose id {id} is "
            f"{shortened(old[id])}; keep the ids (gaps=True, --gaps for shrink), or move the rows "
            "of the tensors first and pass rows_match=True (--rows-match)"
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
