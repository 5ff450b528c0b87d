"""Small tekken.json files."""

from __future__ import annotations

import base64
from typing import Any

from pretok.presets.o200k import TEKKEN
from vocabulary_files import made_vocabulary

SPECIALS = 25


def tekken(**changes: Any) -> dict[str, Any]:
    """Return a small tekken.json; `changes` replace members of the config, or of the file."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [token for token in made_vocabulary().token_bytes.values() if len(token) > 1]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    file: dict[str, Any] = {
        "config": {
            "pattern": TEKKEN.pattern,
            "num_vocab_tokens": len(vocab),
            "default_vocab_size": len(vocab) + SPECIALS,
            "default_num_special_tokens": SPECIALS,
            "version": "v3",
        },
        "vocab": vocab,
    }
    for name, value in changes.items():
        (file["config"] if name in file["config"] else file)[name] = value
    return file


def listed(*texts: str) -> list[dict[str, Any]]:
    """Return special tokens in the form of a tekken.json; the first two are no control tokens."""
    return [{"rank": i, "token_str": text, "is_control": i > 1} for i, text in enumerate(texts)]
