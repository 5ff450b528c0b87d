"""A small vocabulary with tokens such as "hello", and Tokenizers with it."""

from __future__ import annotations

from typing import Any

from bpe import AddedToken, Tokenizer, Vocabulary
from pretok.machine.backend import BackendName
from vocabularies import BYTES

SPECIAL = 400
MERGED = [b"he", b"ll", b"hell", b"hello", b" w", b"or", b" wor", b"'s", b"  ", b"12", b"\n\n",
          "\u4e2d".encode(), "\U0001f600".encode()[:3], "\u00e9".encode(), b"\xff\xfe",
          b"\xe4\xb8", b"\xf0\x9f"]  # fmt: skip
VOCABULARY = Vocabulary(BYTES | {256 + at: token for at, token in enumerate(MERGED)})
TEXT = "hello world's \u4e2d\u6587\u00e9 12\n\n  <s>x\U0001f600"


def make(backend: BackendName, preset: Any = "cl100k", **options: Any) -> Tokenizer:
    options.setdefault("added_tokens", [AddedToken("<s>", SPECIAL)])
    return Tokenizer(VOCABULARY, preset, backend=backend, **options)
