"""Encode text as the ids of byte-level BPE vocabularies, decode them, and train new ones."""

from __future__ import annotations

from bpe.decode import DecodeStream
from bpe.errors import (
    BpeError,
    SpecialTokenError,
    TextFileError,
    UnknownTokenError,
    UnknownVocabularyError,
    UnsupportedError,
    VocabularyError,
)
from bpe.load import load
from bpe.special import AddedToken
from bpe.token import Template, Token
from bpe.tokenizer import Tokenizer
from bpe.train import train
from bpe.vocabulary import Vocabulary

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
