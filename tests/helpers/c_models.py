"""Tokenizers of each kind for the C interface, and parts of texts for them."""

from __future__ import annotations

import bpe
from bpe import AddedToken, Tokenizer
from text_pretok_files import NAMES, model_of

PIECES = [
    "the",
    " hello",
    "\n",
    "日本",
    "é",
    "e\u0301",
    "<s>",
    "<sep>",
    "foo",
    "A b",
    " ",
    "▁",
    "x",
]


def models() -> list[tuple[str, Tokenizer]]:
    tok = bpe.train(["the hello world é"] * 3, vocab_size=270)
    flags = [AddedToken("<s>", 900), AddedToken("<sep>", 901, lstrip=True, rstrip=True),
             AddedToken("foo", 902, special=False, normalized=True)]  # fmt: skip
    made = [
        ("byte-level", Tokenizer(tok.vocabulary, "gpt2", added_tokens=flags)),
        ("NFC", Tokenizer(tok.vocabulary, "gpt2", added_tokens=flags, normalizer="NFC")),
    ]
    return [*made, *((name, model_of(name)) for name in NAMES)]
