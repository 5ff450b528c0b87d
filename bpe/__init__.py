"""Encode text as token ids of BPE vocabularies, decode ids, and train byte-level vocabularies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe import chat as chat
    from bpe import corpus as corpus
    from bpe import distributed as distributed
    from bpe import statistics as statistics
    from bpe.budgets.borders import BorderFinder as BorderFinder
    from bpe.budgets.borders import ChunkKind as ChunkKind
    from bpe.budgets.chunking import Chunk as Chunk
    from bpe.canonical.healing import Healed as Healed
    from bpe.canonical.refusals import RefusedId as RefusedId
    from bpe.conversion.compare import compare as compare
    from bpe.conversion.convert import Conversion as Conversion
    from bpe.conversion.convert import convert as convert
    from bpe.conversion.difference import TextDifference as TextDifference
    from bpe.conversion.differences import Differences as Differences
    from bpe.conversion.differences import MergeDifferences as MergeDifferences
    from bpe.conversion.differences import MovedToken as MovedToken
    from bpe.conversion.differences import PartDifference as PartDifference
    from bpe.conversion.merging import LeftOut as LeftOut
    from bpe.conversion.merging import MergedVocabularies as MergedVocabularies
    from bpe.conversion.merging import merge_vocabularies as merge_vocabularies
    from bpe.conversion.targets import TargetName as TargetName
    from bpe.decoders.decode import Unknown as Unknown
    from bpe.decoders.piece_decoder import Decoding as Decoding
    from bpe.decoders.text_stream import DecodeStream as DecodeStream
    from bpe.editing.remap import Remapped as Remapped
    from bpe.encoding.added_tokens import AddedToken as AddedToken
    from bpe.encoding.encode_stream import EncodeStream as EncodeStream
    from bpe.encoding.padded import PaddedIds as PaddedIds
    from bpe.encoding.padded import Side as Side
    from bpe.encoding.segments import Segmented as Segmented
    from bpe.errors import BpeError as BpeError
    from bpe.errors import ConversionError as ConversionError
    from bpe.errors import CorpusError as CorpusError
    from bpe.errors import MissingPresetError as MissingPresetError
    from bpe.errors import PublishedMismatchError as PublishedMismatchError
    from bpe.errors import SpecialTokenError as SpecialTokenError
    from bpe.errors import TextFileError as TextFileError
    from bpe.errors import UnknownTokenError as UnknownTokenError
    from bpe.errors import UnknownVocabularyError as UnknownVocabularyError
    from bpe.errors import UnsupportedError as UnsupportedError
    from bpe.errors import VocabularyError as VocabularyError
    from bpe.errors import VocabularyWarning as VocabularyWarning
    from bpe.formats.spec import TokenizerSpec as TokenizerSpec
    from bpe.hub.fetch import fetch as fetch
    from bpe.loading import load as load
    from bpe.sessions.prompt_cache import PromptCache as PromptCache
    from bpe.sessions.prompt_cache import PromptCacheStatistics as PromptCacheStatistics
    from bpe.sessions.prompt_cache import PromptIds as PromptIds
    from bpe.sessions.session import Patch as Patch
    from bpe.sessions.session import Session as Session
    from bpe.sessions.splice import Splice as Splice
    from bpe.token_facts import TokenFacts as TokenFacts
    from bpe.token_facts import TokenType as TokenType
    from bpe.tokenizer import Tokenizer as Tokenizer
    from bpe.tokenizer_budgets import TruncatedSide as TruncatedSide
    from bpe.tokenizer_facts import ModelKind as ModelKind
    from bpe.tokenizer_facts import VocabularyBuffer as VocabularyBuffer
    from bpe.training.corpus import TrainingSource as TrainingSource
    from bpe.training.stage2 import Stage2 as Stage2
    from bpe.training.train import Alphabet as Alphabet
    from bpe.training.train import train as train
    from bpe.training.trainer import TieBreak as TieBreak
    from bpe.training.training import TrainingEngine as TrainingEngine
    from bpe.types import Errors as Errors
    from bpe.types import Ids as Ids
    from bpe.types import NewIds as NewIds
    from bpe.types import Normalizer as Normalizer
    from bpe.types import NormalizesText as NormalizesText
    from bpe.types import Offsets as Offsets
    from bpe.types import Padding as Padding
    from bpe.types import PresetLike as PresetLike
    from bpe.types import SegmentLike as SegmentLike
    from bpe.types import Spans as Spans
    from bpe.types import Special as Special
    from bpe.types import SupportsOffsets as SupportsOffsets
    from bpe.types import Template as Template
    from bpe.types import Text as Text
    from bpe.types import Token as Token
    from bpe.types import Truncation as Truncation
    from bpe.types import Unit as Unit
    from bpe.vocabulary import Vocabulary as Vocabulary
    from bpe.witnesses.reachability import reachability as reachability
    from bpe.witnesses.records import Reachability as Reachability
    from bpe.witnesses.records import TokenReach as TokenReach
    from bpe.witnesses.records import TokenWitness as TokenWitness

    __version__: str

# The public names of each module. Each module is imported on first use, because `pretok split`
# imports bpe.cli and thereby this package, but needs no tokenizer. A submodule of bpe must not have
# one of these names, because importing the submodule would hide the name.
_NAMES = {
    "bpe.budgets.borders": "BorderFinder ChunkKind",
    "bpe.budgets.chunking": "Chunk",
    "bpe.canonical.healing": "Healed",
    "bpe.canonical.refusals": "RefusedId",
    "bpe.conversion.compare": "compare",
    "bpe.conversion.convert": "Conversion convert",
    "bpe.conversion.difference": "TextDifference",
    "bpe.conversion.differences": "Differences MergeDifferences MovedToken PartDifference",
    "bpe.conversion.merging": "LeftOut MergedVocabularies merge_vocabularies",
    "bpe.conversion.targets": "TargetName",
    "bpe.editing.remap": "Remapped",
    "bpe.encoding.added_tokens": "AddedToken",
    "bpe.decoders.decode": "Unknown",
    "bpe.encoding.encode_stream": "EncodeStream",
    "bpe.encoding.padded": "PaddedIds Side",
    "bpe.encoding.segments": "Segmented",
    "bpe.decoders.piece_decoder": "Decoding",
    "bpe.decoders.text_stream": "DecodeStream",
    "bpe.errors": "BpeError ConversionError CorpusError MissingPresetError "
    "PublishedMismatchError SpecialTokenError TextFileError UnknownTokenError "
    "UnknownVocabularyError UnsupportedError VocabularyError VocabularyWarning",
    "bpe.formats.spec": "TokenizerSpec",
    "bpe.hub.fetch": "fetch",
    "bpe.loading": "load",
    "bpe.sessions.prompt_cache": "PromptCache PromptCacheStatistics PromptIds",
    "bpe.sessions.session": "Patch Session",
    "bpe.sessions.splice": "Splice",
    "bpe.token_facts": "TokenFacts TokenType",
    "bpe.tokenizer": "Tokenizer",
    "bpe.tokenizer_budgets": "TruncatedSide",
    "bpe.tokenizer_facts": "ModelKind VocabularyBuffer",
    "bpe.training.corpus": "TrainingSource",
    "bpe.training.stage2": "Stage2",
    "bpe.training.train": "Alphabet train",
    "bpe.training.training": "TrainingEngine",
    "bpe.training.trainer": "TieBreak",
    "bpe.types": "Errors Ids NewIds Normalizer NormalizesText Offsets Padding PresetLike "
    "SegmentLike Spans Special SupportsOffsets Template Text Token Truncation Unit",
    "bpe.vocabulary": "Vocabulary",
    "bpe.witnesses.reachability": "reachability",
    "bpe.witnesses.records": "Reachability TokenReach TokenWitness",
}
_LAZY = {name: module for module, names in _NAMES.items() for name in names.split()}

_PACKAGES = ("chat", "corpus", "distributed", "statistics")
"""The modules that `import bpe` makes available; each is imported on first use."""

__all__ = sorted([*_LAZY, "__version__"])


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
