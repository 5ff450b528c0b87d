"""The peers of `pretok bench`: packages that encode texts with a vocabulary that pretok loads."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bpe
from bpe.once import lazy
from pretok.errors import PretokError
from pretok.preset import Preset

MAX_MESSAGE = 160
"""The maximum number of characters to show of an error message of a peer."""
Encode = Callable[[list[str]], Any]
"""Encodes documents on one thread, without special tokens."""
NAMES_OF_OPENAI = ("cl100k_base", "o200k_base")
"""The vocabularies in the package bpe-openai; it downloads all others."""


SCHEMES_OF_GIGATOKEN = ("r50k", "cl100k", "o200k")
"""The splits of tiktoken, which gigatoken does not read in a tokenizer.json."""


class CannotError(PretokError):
    """A peer cannot encode with this vocabulary; the message says why."""


class Subject:
    """The vocabulary to measure with, without added tokens, and files of it for the peers.

    `source` is the file or the name that bpe.load took. `folder` is for the files.
    """

    def __init__(self, tokenizer: bpe.Tokenizer, source: str, folder: Path) -> None:
        self._whole = tokenizer
        self._folder = folder
        self.source = source
        self.name = tokenizer.name
        self.preset_name = tokenizer.preset.name if tokenizer.preset else ""

    def tokenizer(self) -> bpe.Tokenizer:
        """Return a new tokenizer, with empty caches."""
        return bpe.Tokenizer(
            self._whole.vocabulary,
            self._whole.pre_tokenizer,
            normalizer=self._whole.normalizer,
            decoder=self._whole.decoder,
            add_prefix_space=self._whole.add_prefix_space,
            backend=self._whole.backend,
        )

    @lazy
    def json_file(self) -> str:
        """The path of a tokenizer.json."""
        return self._saved("tokenizer.json", "no tokenizer.json")

    @lazy
    def rank_file(self) -> str:
        """The path of a .tiktoken file."""
        return self._saved("ranks.tiktoken", "no .tiktoken file", lossy=True)

    def _saved(self, name: str, none: str, lossy: bool = False) -> str:
        """Save the vocabulary to a file, and return its path."""
        try:
            self.tokenizer().save(self._folder / name, lossy=lossy)
        except bpe.BpeError:
            raise CannotError(f"{none} can hold this vocabulary") from None
        return str(self._folder / name)

    @property
    def ranks(self) -> dict[bytes, int]:
        """The rank of each token, as in `rank_file`."""
        assert self.rank_file
        return {token: id for id, token in self._whole.vocabulary.token_bytes.items()}

    @property
    def preset(self) -> Preset:
        """The preset of one pattern that splits text."""
        preset = self._whole.preset
        if preset is None or not preset.pattern or self._whole.normalizer:
            raise CannotError("VOCAB has a normalizer, or a split that is not one pattern")
        return preset


def _bpe_openai(package: Any, subject: Subject) -> Encode:
    if subject.name not in NAMES_OF_OPENAI:
        raise CannotError(f"it has only {' and '.join(NAMES_OF_OPENAI)}")
    encoding = package.get_encoding(subject.name)
    return lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1)


def _fastokens(package: Any, subject: Subject) -> Encode:
    encode: Encode = package.Tokenizer.from_file(subject.json_file).encode_batch_flat
    return encode


def _gigatoken(package: Any, subject: Subject) -> Encode:
    if subject.preset_name in SCHEMES_OF_GIGATOKEN:
        tokenizer = package.Tokenizer.from_tiktoken(subject.rank_file, subject.preset_name, {})
    else:
        tokenizer = package.Tokenizer(subject.json_file)
    return lambda texts: tokenizer.encode_batch(texts, parallel=False)


def _sentencepiece(package: Any, subject: Subject) -> Encode:
    if not subject.source.endswith(".model"):
        raise CannotError("VOCAB is not a .model file of SentencePiece")
    processor = package.SentencePieceProcessor(model_file=subject.source)
    return lambda texts: processor.encode(texts, num_threads=1)


def _splintr(package: Any, subject: Subject) -> Encode:
    encode: Encode = package.from_json(subject.json_file).encode_batch_flat
    return encode


def _tiktoken(package: Any, subject: Subject) -> Encode:
    encoding = package.Encoding(
        "pretok bench",
        pat_str=subject.preset.pattern,
        mergeable_ranks=subject.ranks,
        special_tokens={},
    )
    return lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1)


def _tokenizers(package: Any, subject: Subject) -> Encode:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer = package.Tokenizer.from_file(subject.json_file)
    return lambda texts: [
        encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    ]


def _tuetoken(package: Any, subject: Subject) -> Encode:
    tokenizer = package.Tokenizer(subject.json_file)
    return lambda texts: tokenizer.encode_ordinary_to_buffer(texts, 1)


def rows_of_buffers(encoded: Any) -> list[list[int]]:
    """Return the rows of (ids, offsets): arrays, or buffers of 32-bit ids and 64-bit offsets."""
    buffers = encoded.values() if isinstance(encoded, dict) else encoded
    ids, offsets = (
        np.frombuffer(part, kind) if isinstance(part, bytes) else np.asarray(part)
        for part, kind in zip(buffers, (np.uint32, np.uint64), strict=True)
    )
    return [row.tolist() for row in np.split(ids, offsets[1:-1].astype(np.int64))]


@dataclass(frozen=True)
class Peer:
    """A package: the module to import, and how it loads a vocabulary.

    `rows` returns a list of ids for each text, from the result of the Encode that `load` returns.
    `has_arrays` says that this result is arrays or buffers, so it is compared with our arrays.
    """

    module: str
    load: Callable[[Any, Subject], Encode]
    rows: Callable[[Any], list[list[int]]] = list
    has_arrays: bool = False


PEERS = {
    "bpe-openai": Peer("bpe_openai", _bpe_openai),
    "fastokens": Peer("fastokens", _fastokens, rows_of_buffers, has_arrays=True),
    "gigatoken": Peer("gigatoken", _gigatoken, lambda rows: rows.to_list(), has_arrays=True),
    "sentencepiece": Peer("sentencepiece", _sentencepiece),
    "snaptokens": Peer("snaptokens", _fastokens, rows_of_buffers, has_arrays=True),
    "splintr-rs": Peer("splintr", _splintr, rows_of_buffers, has_arrays=True),
    "tiktoken": Peer("tiktoken", _tiktoken),
    "tokenizers": Peer("tokenizers", _tokenizers),
    "tuetoken": Peer("tuetoken", _tuetoken, rows_of_buffers, has_arrays=True),
}
"""The packages by the name that pip knows."""


def reason(error: BaseException) -> str:
    """Return why a peer raised `error`, in one line; raise errors that are not its own."""
    if isinstance(error, CannotError):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return "not installed"
    # The PanicException of Rust libraries is not a subclass of Exception.
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    message = (str(error).splitlines() or [""])[0]
    return f"it fails with {type(error).__name__}: {message[:MAX_MESSAGE]}"
