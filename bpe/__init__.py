"""Encode text as the ids of byte-level BPE vocabularies, decode them, and train new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe.encoding.added_tokens import AddedToken
    from bpe.encoding.decode import DecodeStream
    from bpe.errors import (
        BpeError,
        SpecialTokenError,
        TextFileError,
        UnknownTokenError,
        UnknownVocabularyError,
        UnsupportedError,
        VocabularyError,
    )
    from bpe.loading import load
    from bpe.tokenizer import Tokenizer
    from bpe.training.train import train
    from bpe.types import Template, Token
    from bpe.vocabulary import Vocabulary

# `pretok split` imports bpe.cli, and with it this package, but needs none of this.
# No module has the name of a function here: its import would hide the function.
_LAZY = {
    "AddedToken": "bpe.encoding.added_tokens",
    "BpeError": "bpe.errors",
    "DecodeStream": "bpe.encoding.decode",
    "SpecialTokenError": "bpe.errors",
    "Template": "bpe.types",
    "TextFileError": "bpe.errors",
    "Token": "bpe.types",
    "Tokenizer": "bpe.tokenizer",
    "UnknownTokenError": "bpe.errors",
    "UnknownVocabularyError": "bpe.errors",
    "UnsupportedError": "bpe.errors",
    "Vocabulary": "bpe.vocabulary",
    "VocabularyError": "bpe.errors",
    "load": "bpe.loading",
    "train": "bpe.training.train",
}

__all__ = [
    "AddedToken",
    "BpeError",
    "DecodeStream",
    "SpecialTokenError",
    "Template",
    "TextFileError",
    "Token",
    "Tokenizer",
    "UnknownTokenError",
    "UnknownVocabularyError",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
    "load",
    "train",
]


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'bpe' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
