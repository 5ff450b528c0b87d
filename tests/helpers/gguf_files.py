"""Small GGUF files: a writer of the format, and the metadata of a small vocabulary."""

from __future__ import annotations

import io
import struct
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import bpe
from bpe import UnsupportedError, Vocabulary, VocabularyError
from bpe.byte_level import to_text
from bpe.characters.marks import BYTE_NAMES
from bpe.formats import gguf as format_gguf
from bpe.formats import gguf_facts
from bpe.formats.spec import TokenizerSpec
from pretok.errors import UnreadableFileError, UnsupportedFileError
from pretok.formats.gguf_metadata import Reader
from pretok.machine.backend import BackendName
from vocabulary_files import made_vocabulary, write

KINDS = {"uint8": (0, "B"), "int8": (1, "b"), "uint16": (2, "H"), "int16": (3, "h"),
         "uint32": (4, "I"), "int32": (5, "i"), "float32": (6, "f"), "bool": (7, "?"),
         "string": (8, ""), "array": (9, ""), "uint64": (10, "Q"), "int64": (11, "q"),
         "float64": (12, "d")}  # fmt: skip


class Typed(NamedTuple):
    """A value of a GGUF type. For an array, `of` is the type of its elements."""

    kind: str
    value: Any
    of: str = ""


def gguf(
    values: dict[str, Any], version: int = 3, order: str = "<", tensors: int = 0, count: int = -1
) -> bytes:
    """Return a GGUF file with these keys and values, and without data of tensors.

    A value is Typed, or gets the usual GGUF type of its Python type. The value `...` omits its key.
    `order` is the byte order, as in struct. `tensors` is the stored number of tensors. `count` is
    the stored number of keys; a negative `count` means the true number.
    """
    entries = {key: _typed(value) for key, value in values.items() if value is not ...}
    head = struct.pack(order + "IQQ", version, tensors, len(entries) if count < 0 else count)
    parts = [b"GGUF", head]
    for key, (kind, value, of) in entries.items():
        parts += [_string(key, order), struct.pack(order + "I", KINDS[kind][0])]
        if kind == "array":
            parts.append(struct.pack(order + "IQ", KINDS[of][0], len(value)))
            parts += [_one(of, item, order) for item in value]
        else:
            parts.append(_one(kind, value, order))
    return b"".join(parts)


def metadata(vocabulary: Vocabulary | None = None, **changes: Any) -> dict[str, Any]:
    """Return the keys and values of a small model.

    `changes` replace values whose keys begin with "tokenizer.ggml.". The last token is "<|end|>", a
    control token; its id is 264 with the default `vocabulary`.
    """
    small = vocabulary or made_vocabulary()
    texts = [to_text(token) for _, token in sorted(small.token_bytes.items())]
    tokenizer = {
        "model": "gpt2",
        "pre": "gpt-2",
        "tokens": [*texts, "<|end|>"],
        "scores": Typed("array", [0.0] * (len(texts) + 1), "float32"),
        "token_type": [1] * len(texts) + [3],
        "merges": [f"{texts[left]} {texts[right]}" for left, right, _ in small.merges or ()],
        "eos_token_id": len(texts),
        "add_bos_token": False,
    }
    return {
        "general.architecture": "llama",
        "general.alignment": 32,
        **{f"tokenizer.ggml.{name}": value for name, value in {**tokenizer, **changes}.items()},
        "tokenizer.chat_template": "{{ messages }}",
    }


SENTENCEPIECE_TEXTS = ["<unk>", "<s>", *BYTE_NAMES, *"▁abc", "▁a", "ab", "bc", "<user>", "abc"]
TYPES = [2, 3, *[6] * 256, *[1] * 7, 4, 5]
SCORES = [0.0] * 262 + [-1.0, -3.0, -2.0, 0.0, -4.0]


def sentencepiece_metadata(
    texts: list[str] = SENTENCEPIECE_TEXTS,
    types: list[int] = TYPES,
    scores: list[Any] = SCORES,
    kind: str = "float32",
    **changes: Any,
) -> dict[str, Any]:
    """Return the keys and values of a small model with SentencePiece's BPE."""
    tokens: dict[str, Any] = {
        "model": "llama", "pre": "default", "tokens": texts, "token_type": types, "merges": ...,
        "scores": Typed("array", scores, kind), "bos_token_id": 1, "add_bos_token": ...,
        "eos_token_id": 1,
    }  # fmt: skip
    return metadata(**{**tokens, **changes})


GEMMA_TOKENS = ["<bos>", "<eos>", *BYTE_NAMES, "\n", "\n\n", *"ab▁", "▁a", "ab", "▁ab"]
GEMMA_MERGES = ["\n \n", "▁ a", "a b", "▁ ab", "▁a b"]
GEMMA: dict[str, Any] = {
    "model": "gemma4", "pre": ..., "tokens": GEMMA_TOKENS, "merges": GEMMA_MERGES, "scores": ...,
    "token_type": [3, 3, *[6] * 256, *[1] * 8], "bos_token_id": 0, "eos_token_id": 1,
    "add_bos_token": True,
}  # fmt: skip
"""The `changes` of `metadata` for a small model whose listed merges join characters."""


def loaded(
    tmp_path: Path, *arguments: Any, backend: BackendName = "python", **changes: Any
) -> bpe.Tokenizer:
    """Return the tokenizer of a small file whose metadata have these `changes`."""
    path = write(tmp_path / "small.gguf", gguf(metadata(**changes)))
    return bpe.load(path, *arguments, backend=backend)


def _typed(value: Any) -> Typed:
    if isinstance(value, Typed):
        return value
    if isinstance(value, list):
        return Typed(
            "array", value, "string" if value and isinstance(value[0], (str, bytes)) else "int32"
        )
    kinds = {bool: "bool", int: "uint32", float: "float32", str: "string", bytes: "string"}
    return Typed(kinds[type(value)], value)


def _one(kind: str, value: Any, order: str) -> bytes:
    if kind == "string":
        return _string(value, order)
    if kind == "array":
        return struct.pack(order + "IQ", 0, 0)
    return struct.pack(order + KINDS[kind][1], value)


def _string(value: str | bytes, order: str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack(order + "Q", len(data)) + data


def parse_metadata(data: bytes, wanted: Collection[str]) -> dict[str, Any]:
    """Return the values of the `wanted` keys in the bytes of a GGUF file."""
    file = io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data)), 1 << 20)
    return Reader(file, len(data)).values(wanted)


def parse(data: bytes) -> TokenizerSpec:
    """Return the tokenizer in the bytes of a GGUF file, as Python reads it."""
    try:
        values = gguf_facts.read_values(partial(parse_metadata, data), format_gguf.KEYS)
        return format_gguf.read(values)
    except UnsupportedFileError as error:
        raise UnsupportedError(str(error)) from None
    except UnreadableFileError as error:
        raise VocabularyError(str(error)) from None
