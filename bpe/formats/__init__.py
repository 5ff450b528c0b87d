"""File formats of vocabularies, told apart by their content, and written by suffix."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats import json_value, pretok_file
from bpe.formats.files import named, write_atomically
from bpe.formats.json_value import Value
from pretok.errors import short_path, shortened

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer

Format: TypeAlias = Literal[
    "tiktoken", "minbpe", "merges", "vocab", "huggingface", "gguf", "pretok"
]

_OTHERS = (
    (b"PK\x03\x04", "a zip archive, such as a checkpoint of a model"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"),
    (b"version https://git-lfs", "only the pointer of Git LFS; get the file with `git lfs pull`"),
    (b"<!DOCTYPE", "a web page; download the file itself"),
    (b"<!doctype", "a web page; download the file itself"),
    (b"<html", "a web page; download the file itself"),
)
_CONFIGS = {
    "added_tokens_decoder": "a tokenizer_config.json, which lies beside the vocabulary",
    "tokenizer_class": "a tokenizer_config.json, which lies beside the vocabulary",
    "architectures": "the config.json of a model",
    "weight_map": "the index of a model's weights",
}


def detect(data: bytes) -> tuple[Format, Value | None]:
    """Return the format of a file with these bytes, and its value if it is JSON.

    Raises UnsupportedError for a known format that bpe does not read, VocabularyError for anything
    else that is not a vocabulary.
    """
    if not data or data.isspace():
        raise VocabularyError("the file is empty; expected a vocabulary")
    if data.startswith(pretok_file.MAGIC):
        return "pretok", None
    for start, what in _OTHERS:
        if data.startswith(start):
            raise UnsupportedError(f"this is {what}")
    if data[0] == 0x80 and 2 <= int.from_bytes(data[1:2], "big") < 6:
        raise UnsupportedError("this is a pickle; bpe does not run what a file says")
    if _is_sentencepiece(data):
        raise UnsupportedError(
            "this is a SentencePiece model, which bpe does not read; for a byte-level vocabulary "
            "give its tokenizer.json"
        )
    text = data.removeprefix(b"\xef\xbb\xbf")
    if text.lstrip()[:1] in (b"{", b"["):
        return _json_format(data)
    if text.startswith(b"minbpe v"):
        return "minbpe", None
    return _line_format(text), None


def save(tokenizer: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Write `tokenizer` to `path`, in the format of its suffix, whole or not at all.

    Raises VocabularyError if the format cannot hold it, ValueError for another suffix, OSError.
    """
    from bpe.formats import huggingface, minbpe, tiktoken

    dumps = {
        ".json": huggingface.dump,
        ".tiktoken": tiktoken.dump,
        ".model": minbpe.dump,
        ".pretok": pretok_file.dump,
    }
    target = Path(path)
    dump = dumps.get(target.suffix.lower())
    if dump is None:
        raise ValueError(
            f"{short_path(target)}: suffix {shortened(target.suffix)}; expected .pretok, .json "
            "(tokenizer.json), "
            ".tiktoken or .model (minbpe)"
        )
    with named(target):
        data = dump(tokenizer)
    write_atomically(target, data)


def _json_format(data: bytes) -> tuple[Format, Value]:
    value = json_value.parse(data)
    members = value.object()
    if type(members.get("model")) is dict:
        return "huggingface", value
    if members and all(type(id) is int for id in members.values()):
        return "vocab", value
    for key, what in _CONFIGS.items():
        if key in members:
            raise VocabularyError(f"this is {what}, not the vocabulary itself")
    shown = ", ".join(shortened(name, show=ascii) for name in list(members)[:5]) or "no members"
    raise VocabularyError(
        f'the JSON has {shown}; expected a tokenizer.json, with an object "model", or a '
        "vocab.json, which has nothing but texts and their ids"
    )


def _line_format(text: bytes) -> Format:
    from bpe.formats.tiktoken import is_line

    lines = [line.removesuffix(b"\r") for line in text[: 1 << 16].split(b"\n")]
    first = [line for line in lines if line][:3]
    if any(map(is_line, first)):
        return "tiktoken"
    is_text = bool(first) and all(byte >= 0x20 for line in first for byte in line)
    if is_text and (
        first[0].startswith(b"#version") or all(len(line.split(b" ")) == 2 for line in first)
    ):
        return "merges"
    raise VocabularyError(
        f"the file begins with {text[:24]!r}, which is no vocabulary that bpe knows: expected a "
        "tokenizer.json, a rank file of tiktoken, a vocab.json or merges.txt, a minbpe .model, a "
        "GGUF or a .pretok file"
    )


def _is_sentencepiece(data: bytes) -> bool:
    """Return whether `data` is a protobuf message that begins with a piece: text, then score."""
    if data[:1] != b"\n" or len(data) < 5 or data[2] != 0x0A:
        return False
    end = 4 + data[3]
    return data[1] >= data[3] + 2 and data[end : end + 1] == b"\x15"
