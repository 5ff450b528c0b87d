"""Random tokenizer.json files with added tokens whose ids are not those of tokenizers."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import bpe
from bpe import VocabularyWarning
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.machine.backend import BackendName
from vocabulary_files import added, huggingface

# Some are tokens of the model, some stand for other bytes ("é" for 0xE9), some are both.
CONTENTS = ["<x>", "<y>", "<z>", "é", "a", "ab", "Ġa", "aé", "", "中", "<é>", "\n", "b ", "<gap>"]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
NORMALIZERS = [None, {"type": "NFC"}, {"type": "Lowercase"}]


def random_file(random: Random) -> dict[str, Any]:
    """Return a byte-level tokenizer.json with random added tokens, whose ids may be any."""
    vocab = {char: id for id, char in enumerate(BYTE_CHARACTERS)}
    merges = [
        pair for pair in (["a", "b"], ["Ġ", "a"], ["Ã", "©"], ["<", "x"]) if random.random() < 0.7
    ]
    for text in map("".join, merges):
        vocab[text] = len(vocab)
    for text in ("<x>", "<y>", "Ġa", "<é>", "中"):
        if random.random() < 0.25:
            vocab.setdefault(text, len(vocab))
    if random.random() < 0.1:
        vocab["<gap>"] = len(vocab) + random.randrange(1, 3)
    listed: list[dict[str, Any]] = []
    for _ in range(random.randrange(5)):
        id = random.choice([random.randrange(300), len(vocab) + random.randrange(5)])
        listed.append(added(id, random.choice(CONTENTS), **dict.fromkeys(FLAGS, False)))
        listed[-1] |= {flag: random.random() < 0.3 for flag in FLAGS}
        if random.random() < 0.1:  # the same token again, with another id
            listed.append(listed[-1] | {"id": random.randrange(300)})
    return huggingface(
        added_tokens=listed,
        normalizer=random.choice(NORMALIZERS),
        model_vocab=vocab,
        model_merges=merges,
        model_ignore_merges=random.random() < 0.3,
    )


def random_texts(random: Random) -> list[str]:
    parts = [*CONTENTS, "x", " ", "<", ">", "É", "A"]
    return ["".join(random.choices(parts, k=random.randrange(7))) for _ in range(6)]


def refusal(file: dict[str, Any]) -> str:
    """Return why bpe refuses a file that tokenizers reads; "" if it reads the file too.

    With gaps in the ids of the model, tokenizers may give a new token the id of another token.
    """
    tokens = [json.dumps(token | {"id": 0}) for token in file["added_tokens"] if token["content"]]
    contents = {token["content"] for token in file["added_tokens"] if token["content"]}
    if len(set(tokens)) > len(contents):
        return "twice, with different flags"
    vocab = file["model"]["vocab"]
    new = len(contents.difference(vocab))
    return "the id of" if max(vocab.values()) in range(len(vocab), len(vocab) + new) else ""


def load_quietly(path: Path, backend: BackendName | None = None) -> bpe.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VocabularyWarning)
        return bpe.load(path, backend=backend)
