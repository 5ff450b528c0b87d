"""Define Corpus, which reads what `tokenize` has written."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.layouts.layout import NPY_HEADER_SIZE, OFFSETS_SUFFIX, row_offsets
from bpe.corpus.manifest import Manifest, Shard, load_manifest
from bpe.corpus.shards import OFFSET, sha256_of
from bpe.errors import CorpusError
from bpe.loading import load
from bpe.tokenizer import Tokenizer
from bpe.types import Ids, Offsets

LENGTHS = 1 << 20
"""The number of documents whose lengths are read at a time."""


class Corpus:
    """A complete corpus in a folder: its documents, its manifest and its tokenizer."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Read the manifest of `folder`; raise CorpusError if there is no complete corpus."""
        self.folder = Path(folder)
        manifest = load_manifest(self.folder)
        if manifest is None:
            raise CorpusError(f"{self.folder}: no manifest.json; expected the folder of a corpus")
        if not manifest.complete:
            raise CorpusError(
                f"{self.folder}: the corpus is incomplete; continue with the same call of "
                "`pretok tokenize` or bpe.corpus.tokenize"
            )
        self.manifest: Manifest = manifest
        self._layout = LAYOUTS[manifest.options["layout"]]
        self._dtype: np.dtype[Any] = np.dtype(manifest.options["dtype"]).newbyteorder("<")

    @property
    def splits(self) -> dict[str, list[Shard]]:
        """The shards of each split."""
        return self.manifest.splits

    def documents(self, split: str = "train") -> int:
        """Return the number of documents of a split."""
        shards = self._shards(split)
        return shards[-1].next_document if shards else 0

    def document(self, index: int, split: str = "train") -> Ids:
        """Return the ids of a document; documents count from 0, over all shards of the split.

        Raises IndexError if the split has no document `index`, and CorpusError if the size of a
        file of a shard is not that of the manifest. `verify` also compares all bytes.
        """
        shards = self._shards(split)
        if not 0 <= index < self.documents(split):
            raise IndexError(
                f"document {index} of split {split!r}; expected 0 to {self.documents(split) - 1}"
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
            offsets = self._offsets(shard)
            rows = row_offsets(offsets, shard.tokens, self.manifest.options["pack"])
            start, end = offsets[inner : inner + 2].tolist()
            place = self.folder / shard.name
            parts.append(self._layout.read(place, self._dtype, rows, start, end))
        ids: Ids = np.concatenate([np.zeros(0, np.uint32), *parts]).astype(np.uint32)
        return ids

    def lengths(self, split: str = "train") -> Iterator[Offsets]:
        """Yield the numbers of tokens of all documents, in arrays; raises CorpusError likewise."""
        pending = 0  # the tokens of a document that continues
        for shard in self._shards(split):
            offsets = self._offsets(shard)
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
        if sha256_of(path) != description["sha256"]:
            raise CorpusError(
                f"{path}: the sha256 of this file differs from the one in the manifest; restore "
                "the file, or make the corpus again"
            )
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
                size, digest = path.stat().st_size, sha256_of(path)
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

    def _offsets(self, shard: Shard) -> Offsets:
        """Return the offsets of a shard; raise CorpusError if one of its files lost its size."""
        for name, expected in shard.files.items():
            size = (self.folder / name).stat().st_size
            if size != expected["bytes"]:
                raise CorpusError(
                    f"{self.folder / name}: expected {expected['bytes']} bytes, got {size}; the "
                    "file is damaged: restore it, or make the corpus again"
                )
        path = self.folder / (shard.name + OFFSETS_SUFFIX)
        return np.memmap(path, OFFSET, "r", NPY_HEADER_SIZE, (shard.documents + 1,))
