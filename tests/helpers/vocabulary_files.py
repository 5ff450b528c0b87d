"""Small vocabulary files of every format, and tokenizers to write to them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpe
from bpe import AddedToken, Vocabulary
from bpe.byte_level import to_text
from pre_tokenizer_json import byte_level
from pretok.machine.backend import BackendName

PAIRS = ((b"a", b"b"), (b" ", b"t"), (b"ab", b"c"), (b" t", b"h"), (b" th", b"e"), (b"1", b"2"),
         (b"\xc3", b"\xa9"), (b"\r", b"\n"))  # fmt: skip
"""Merges. Only one pair makes each token, so a rank file of the tokens gives the same ids."""

TEXTS = (
    "",
    "abc the abcab\r\n12 212 the\u00e9",
    "  the\n\n  ab  ",
    "\u00e9e\u0301\u4e2d\U0001f600 \u00a0'RE's",
)


def made_vocabulary(
    pairs: Iterable[tuple[bytes, bytes]] = PAIRS, byte_ids: Iterable[int] = range(256)
) -> Vocabulary:
    """Return a vocabulary with these merges, whose results have ids from 256 on."""
    tokens = {id: bytes([byte]) for byte, id in enumerate(byte_ids)}
    ids = {token: id for id, token in tokens.items()}
    merges: list[tuple[int, int, int]] = []
    for left, right in pairs:
        ids[left + right] = id = 256 + len(merges)
        tokens[id] = left + right
        merges.append((ids[left], ids[right], id))
    return Vocabulary(tokens, merges)


def made(
    backend: BackendName | None = None,
    vocabulary: Vocabulary | None = None,
    preset: Any = "cl100k",
    special: tuple[tuple[str, int], ...] = (("<|end|>", 300),),
    **options: Any,
) -> bpe.Tokenizer:
    """Return a small tokenizer."""
    return bpe.Tokenizer(
        vocabulary or made_vocabulary(),
        preset,
        added_tokens=options.pop("added_tokens", [AddedToken(*token) for token in special]),
        backend=backend,
        **options,
    )


def tiktoken_lines(vocabulary: Vocabulary | None = None) -> list[bytes]:
    """Return the lines of a rank file."""
    tokens = (vocabulary or made_vocabulary()).token_bytes
    return [b"%s %d" % (base64.b64encode(token), id) for id, token in sorted(tokens.items())]


def huggingface(**changes: Any) -> dict[str, Any]:
    """Return a small tokenizer.json.

    `changes` replace members of the file. `model_x` replaces the member x of the model, and removes
    it if the value is `...`.
    """
    vocabulary = made_vocabulary()
    texts = {id: to_text(token) for id, token in vocabulary.token_bytes.items()}
    file: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(264, "<|end|>")],
        "normalizer": None,
        "pre_tokenizer": byte_level(),
        "post_processor": None,
        "decoder": byte_level(),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: id for id, text in texts.items()},
            "merges": [[texts[a], texts[b]] for a, b, _ in vocabulary.merges or ()],
        },
    }
    for name, value in changes.items():
        if name.startswith("model_"):
            file["model"][name.removeprefix("model_")] = value
        else:
            file[name] = value
    file["model"] = {name: value for name, value in file["model"].items() if value is not ...}
    return file


def added(id: int, content: str, **flags: bool) -> dict[str, Any]:
    """Return an added token in the form of a tokenizer.json."""
    names = ("single_word", "lstrip", "rstrip", "normalized")
    return {
        "id": id,
        "content": content,
        **{name: flags.get(name, False) for name in names},
        "special": flags.get("special", True),
    }


def write(path: Path, content: bytes | str | list[bytes] | dict[str, Any]) -> Path:
    """Write a file; return its path.

    A list has lines, which get a line feed each. A dict becomes JSON.
    """
    if isinstance(content, list):
        content = b"".join(line + b"\n" for line in content)
    elif isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def gpt2_files(folder: Path, prefix: str = "") -> tuple[Path, Path]:
    """Write a vocab.json and a merges.txt; return their paths."""
    model = huggingface()["model"]
    merges = "".join(f"{left} {right}\n" for left, right in model["merges"])
    return (
        write(folder / f"{prefix}vocab.json", model["vocab"]),
        write(folder / f"{prefix}merges.txt", f"#version: 0.2\n{merges}"),
    )


def minbpe_text(first: str = "minbpe v1", pattern: str = "", special: str = "<|end|> 300") -> str:
    """Return a minbpe .model."""
    merges = "".join(f"{left} {right}\n" for left, right, _ in made_vocabulary().merges or ())
    return f"{first}\n{pattern}\n{1 if special else 0}\n{special}{special and chr(10)}{merges}"
