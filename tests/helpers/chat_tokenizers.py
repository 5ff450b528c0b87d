"""Tokenizers with the special tokens of a chat template, ours and those of transformers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import bpe
from vocabulary_files import added, write

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
_TOKENS = re.compile(
    r"<[|｜][^|｜<>\s{}'\"]+[|｜]>|</?[a-z_]+>|\[/?[A-Z_]{3,}\]|<[|｜]?[a-z_]+[|｜]>|<[|][a-z_]+>"
)


def tokens_of(template: str) -> list[str]:
    """Return the texts in `template` that look like added tokens, and the special tokens."""
    return [*dict.fromkeys((*SPECIAL.values(), *_TOKENS.findall(template)))]


def file_with(base: dict[str, Any], tokens: list[str]) -> dict[str, Any]:
    """Return the tokenizer.json `base` with `tokens` as added tokens, of which some are special."""
    known = {token["content"] for token in base["added_tokens"]}
    vocabulary = base["model"]["vocab"]
    size = max((*vocabulary.values(), *(token["id"] for token in base["added_tokens"]))) + 1
    extra = []
    for content in dict.fromkeys(tokens):
        if content in known:
            continue
        id = vocabulary.get(content)
        if id is None:
            id, size = size, size + 1
        special = content in SPECIAL.values() or "|" in content
        extra.append(added(id, content, special=special))
    return {**base, "added_tokens": [*base["added_tokens"], *extra]}


def pair(path: Path, file: dict[str, Any], backend: Any = None) -> tuple[bpe.Tokenizer, Any]:
    """Return our tokenizer of a file, and that of transformers."""
    from transformers import PreTrainedTokenizerFast

    folder = path
    folder.mkdir(exist_ok=True)
    write(folder / "tokenizer.json", file)
    contents = {token["content"] for token in file["added_tokens"]}
    names = {name: text for name, text in SPECIAL.items() if text in contents}
    write(folder / "tokenizer_config.json", json.dumps(names))
    ours = bpe.load(folder, backend=backend)
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **names)
    return ours, theirs
