"""Byte-level vocabularies that lack tokens of some bytes, trained by Hugging Face's tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

TRAINED_ON = ["hello world, hello there", "wor ld\n  hello", "\u00e9t\u00e9 na\u00efve"]


def trained_without_bytes(path: Path, **options: Any) -> Any:
    """Train and return a Tokenizer of Hugging Face, without an initial alphabet; save it too."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(**options))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    special = [token] if (token := options.get("unk_token")) else []
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=70, special_tokens=special, show_progress=False
    )
    theirs.train_from_iterator(TRAINED_ON * 3, trainer)
    theirs.save(str(path))
    return theirs
