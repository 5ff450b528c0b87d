"""Encode text as token ids of BPE vocabularies, decode ids, and train byte-level vocabularies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe import corpus as corpus
    from bpe import distributed as distributed
    from bpe import statistics as statistics
    from bpe.decoders.decode import (
        DecodeStream,
        Unknown,
    )
    from bpe.decoders.piece_decoder import Decoding
    from bpe.encoding.added_tokens import AddedToken
    from bpe.encoding.padded import PaddedIds, Side
    from bpe.errors import (
        BpeError,
        CorpusError,
        MissingPresetError,
        PublishedMismatchError,
        SpecialTokenError,
        TextFileError,
        UnknownTokenError,
        UnknownVocabularyError,
        UnsupportedError,
        VocabularyError,
        VocabularyWarning,
    )
    from bpe.formats.spec import TokenizerSpec
    from bpe.hub.fetch import fetch
    from bpe.loading import load
    from bpe.tokenizer import Tokenizer
    from bpe.training.corpus import TrainingSource
    from bpe.training.train import (
        Alphabet,
        TrainingEngine,
        train,
    )
    from bpe.training.trainer import TieBreak
    from bpe.types import (
        Errors,
        Ids,
        Normalizer,
        NormalizesText,
        Offsets,
        Padding,
        PresetLike,
        Spans,
        Special,
        SupportsOffsets,
        Template,
        Text,
        Token,
        Truncation,
    )
    from bpe.vocabulary import Vocabulary

    __version__: str

# The module of each public name. Each module is imported on first use, because `pretok split`
# imports bpe.cli and thereby this package, but needs no tokenizer. A submodule of bpe must not have
# the name of a function in this dict, because importing the submodule would hide the function.
_LAZY = {
    "AddedToken": "bpe.encoding.added_tokens",
    "Alphabet": "bpe.training.train",
    "BpeError": "bpe.errors",
    "CorpusError": "bpe.errors",
    "DecodeStream": "bpe.decoders.decode",
    "Decoding": "bpe.decoders.piece_decoder",
    "Errors": "bpe.types",
    "Ids": "bpe.types",
    "MissingPresetError": "bpe.errors",
    "Normalizer": "bpe.types",
    "NormalizesText": "bpe.types",
    "Offsets": "bpe.types",
    "PaddedIds": "bpe.encoding.padded",
    "Padding": "bpe.types",
    "PresetLike": "bpe.types",
    "PublishedMismatchError": "bpe.errors",
    "Side": "bpe.encoding.padded",
    "Spans": "bpe.types",
    "Special": "bpe.types",
    "SpecialTokenError": "bpe.errors",
    "SupportsOffsets": "bpe.types",
    "Template": "bpe.types",
    "Text": "bpe.types",
    "TextFileError": "bpe.errors",
    "TieBreak": "bpe.training.trainer",
    "Token": "bpe.types",
    "Tokenizer": "bpe.tokenizer",
    "TokenizerSpec": "bpe.formats.spec",
    "TrainingEngine": "bpe.training.train",
    "TrainingSource": "bpe.training.corpus",
    "Truncation": "bpe.types",
    "Unknown": "bpe.decoders.decode",
    "UnknownTokenError": "bpe.errors",
    "UnknownVocabularyError": "bpe.errors",
    "UnsupportedError": "bpe.errors",
    "Vocabulary": "bpe.vocabulary",
    "VocabularyError": "bpe.errors",
    "VocabularyWarning": "bpe.errors",
    "fetch": "bpe.hub.fetch",
    "load": "bpe.loading",
    "train": "bpe.training.train",
}

_PACKAGES = ("corpus", "distributed", "statistics")
"""The modules that `import bpe` makes available; each is imported on first use."""

__all__ = [
    "AddedToken",
    "Alphabet",
    "BpeError",
    "CorpusError",
    "DecodeStream",
    "Decoding",
    "Errors",
    "Ids",
    "MissingPresetError",
    "Normalizer",
    "NormalizesText",
    "Offsets",
    "PaddedIds",
    "Padding",
    "PresetLike",
    "PublishedMismatchError",
    "Side",
    "Spans",
    "Special",
    "SpecialTokenError",
    "SupportsOffsets",
    "Template",
    "Text",
    "TextFileError",
    "TieBreak",
    "Token",
    "Tokenizer",
    "TokenizerSpec",
    "TrainingEngine",
    "TrainingSource",
    "Truncation",
    "Unknown",
    "UnknownTokenError",
    "UnknownVocabularyError",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
    "VocabularyWarning",
    "__version__",
    "fetch",
    "load",
    "train",
]


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        from importlib import import_module

        return import_module(f"bpe.{name}")
    if name in _LAZY:
        from importlib import import_module

        value: object = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    if name == "__version__":
        from importlib.metadata import version

        return version("pretok-bpe")
    raise AttributeError(f"module 'bpe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
