"""Encode text as the ids of byte-level BPE vocabularies, decode them, and train new ones."""

from __future__ import annotations

from bpe.decode import DecodeStream
from bpe.errors import (
    BpeError,
    SpecialTokenError,
    UnknownTokenError,
    UnknownVocabularyError,
    UnsupportedError,
    VocabularyError,
)
from bpe.special import AddedToken
from bpe.tokenizer import Template, Token, Tokenizer
from bpe.vocabulary import Vocabulary

__all__ = [
    "AddedToken",
    "BpeError",
    "DecodeStream",
    "SpecialTokenError",
    "Template",
    "Token",
    "Tokenizer",
    "UnknownTokenError",
    "UnknownVocabularyError",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
]
