"""Define Corpus, which reads what `tokenize` has written."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import index as as_index
from pathlib import Path
from typing import Any

import numpy as np

from bpe.corpus.manifest import load_manifest
from bpe.corpus.members import Manifest, Shard
from bpe.corpus.shard_files import OpenShard, damaged, open_shard, size_of
from bpe.corpus.shards import sha256_of
from bpe.errors import CorpusError
from bpe.loading import load
from bpe.tokenizer import Tokenizer
from bpe.types import Ids, Offsets

LENGTHS = 1 << 20
"""The number of documents whose lengths are read at a time."""
CHUNK = 1 << 20
"""The number of tokens that an iterator reads at a time, or more in a longer document."""


class Corpus:
    """A complete corpus in a folder: its documents, its manifest and its tokenizer.

    `len(corpus)` is the number of documents of the split "train", and `corpus[i]` and iteration
    give the ids of these documents as arrays of uint32.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Read the manifest of `folder`.

        Raises CorpusError if there is no complete corpus, or if the manifest is damaged.
        """
        self.folder = Path(folder)
        manifest = load_manifest(self.folder)
        if manifest is None:
            raise CorpusError(
                f"{self.folder}: no manifest.json; expected a folder that `pretok tokenize` or "
                "bpe.corpus.tokenize has written"
            )
        if not manifest.complete:
            raise CorpusError(
                f"{self.folder}: the corpus is incomplete; continue with the same call of "
                "`pretok tokenize` or bpe.corpus.tokenize"
            )
        self.manifest: Manifest = manifest
        self._opened: dict[str, OpenShard] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: without the shards, which each process opens itself."""
        return {**vars(self), "_opened": {}}

    def __repr__(self) -> str:
        manifest = self.manifest
        return (
            f"<Corpus {str(self.folder)!r}, {manifest.documents} documents, "
            f"{manifest.tokens} tokens>"
        )

    @property
    def splits(self) -> dict[str, list[Shard]]:
        """The shards of each split."""
        return self.manifest.splits

    def document_count(self, split: str = "train") -> int:
        """Return the number of documents of a split."""
        shards = self._shards(split)
        return shards[-1].next_document if shards else 0

    def __len__(self) -> int:
        """Return the number of documents of the split "train"."""
        return self.document_count()

    def __getitem__(self, index: int) -> Ids:
        """Return the ids of a document of the split "train"; a negative index counts back."""
        index = as_index(index)
        return self.document(index + len(self) * (index < 0))

    def __iter__(self) -> Iterator[Ids]:
        """Yield the ids of each document of the split "train"."""
        return self.iter_documents()

    def document(self, index: int, split: str = "train") -> Ids:
        """Return the ids of a document; documents count from 0, over all shards of the split.

        Raises IndexError if the split has no document `index`, and CorpusError if a file of a shard
        is missing or damaged. Only `verify` compares all bytes with the manifest.
        """
        shards = self._shards(split)
        if not 0 <= index < self.document_count(split):
            raise IndexError(
                f"document {index} of split {split!r}; the split has {self.document_count(split)} "
                "documents, and the first one is document 0"
            )
        parts = []
        # With packing, the document may continue in later shards. Find the last shard that begins
        # with it or before it, then go back to the shard in which it begins.
        at = bisect_right(shards, index, key=lambda shard: shard.first_document) - 1
        while at > 0 and shards[at].first_document == index and shards[at - 1].continues:
            at -= 1
        for shard in shards[at:]:
            if shard.first_document > index:
                break
            inner = index - shard.first_document
            if inner >= shard.documents:
                continue
            opened = self._open(shard)
            parts.append(opened.read(*opened.offsets[inner : inner + 2].tolist()))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def iter_documents(self, split: str = "train") -> Iterator[Ids]:
        """Yield the ids of each document of a split, in order; raises CorpusError like `document`.

        The documents are read about a million tokens at a time.
        """
        held: list[Ids] = []  # the parts of a document that continues in the next shard
        for shard in self._shards(split):
            opened = self._open(shard)
            first = 0
            while first < shard.documents:
                start = int(opened.offsets[first])
                fitting = int(np.searchsorted(opened.offsets, start + CHUNK, "right")) - 1
                last = max(first + 1, min(fitting, first + CHUNK))
                bounds = opened.offsets[first : last + 1]
                tokens = opened.read(start, int(bounds[-1]))
                for begin, end in pairwise((bounds - start).tolist()):
                    held.append(tokens[begin:end])
                    first += 1
                    if first < shard.documents or not shard.continues:
                        yield held[0] if len(held) == 1 else np.concatenate(held)
                        held = []

    def lengths(self, split: str = "train") -> Iterator[Offsets]:
        """Yield the numbers of tokens of all documents, in arrays; raises CorpusError likewise."""
        pending = 0  # the tokens of a document that continues
        for shard in self._shards(split):
            offsets = self._open(shard).offsets
            for first in range(0, shard.documents, LENGTHS):
                lengths = np.diff(offsets[first : first + LENGTHS + 1])
                lengths[0] += pending
                pending = 0
                if shard.continues and first + LENGTHS >= shard.documents:
                    pending = int(lengths[-1])
                    lengths = lengths[:-1]
                yield lengths

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer that encoded the corpus; raise CorpusError if its file changed."""
        description = self.manifest.tokenizer
        path = self.folder / description["file"]
        size_of(path)
        if sha256_of(path) != description["sha256"]:
            raise damaged(path, "its sha256 differs from the one in the manifest")
        return load(path)

    def verify(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each file with its problem, or with "" if it has none."""
        files = {self.manifest.tokenizer["file"]: self.manifest.tokenizer}
        for shards in self.splits.values():
            for shard in shards:
                files |= shard.files
        for name, expected in files.items():
            path = self.folder / name
            try:
                size = size_of(path)
                digest = sha256_of(path)
            except CorpusError as error:
                yield name, str(error).removeprefix(f"{path}: ")
                continue
            except OSError as error:
                yield name, str(error.strerror)
                continue
            if size != expected["bytes"]:
                yield name, f"expected {expected['bytes']} bytes, got {size}"
            elif digest != expected["sha256"]:
                yield name, f"expected sha256 {expected['sha256']}, got {digest}"
            else:
                yield name, ""

    def _shards(self, split: str) -> list[Shard]:
        if split not in self.splits:
            raise CorpusError(
                f"{self.folder}: no split {split!r}; expected one of "
                f"{', '.join(map(repr, self.splits))}"
            )
        return self.splits[split]

    def _open(self, shard: Shard) -> OpenShard:
        """Open a shard and check its files, once for each Corpus."""
        if shard.name not in self._opened:
            self._opened[shard.name] = open_shard(self.folder, shard, self.manifest)
        return self._opened[shard.name]
