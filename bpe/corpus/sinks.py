"""Define Sink, which divides documents among splits and writes them to shards."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from bpe.corpus.encode import with_ids_around
from bpe.corpus.layouts.layout import Layout
from bpe.corpus.manifest import Manifest
from bpe.corpus.options import Options
from bpe.corpus.shards import ShardWriter
from bpe.types import Ids, Offsets

HASHED = 1 << 16
"""The number of bytes of a document that decide its split."""
TRAIN, VALIDATION = "train", "val"
NO_END = np.zeros(0, np.int64)
"""The ends of documents in a part of one document."""


class Sink:
    """Writes documents to the shards of their splits."""

    def __init__(
        self,
        folder: Path,
        options: Options,
        manifest: Manifest,
        states: dict[str, Any],
        layout: Layout | None = None,
    ) -> None:
        self._options = options
        names = (TRAIN, VALIDATION) if options.validation else (TRAIN,)
        self.writers = {
            name: ShardWriter(
                folder,
                name,
                options,
                manifest.splits.setdefault(name, []),
                states.get(name),
                layout,
            )
            for name in names
        }

    def add(self, texts: list[bytes], ids: Ids, offsets: Offsets) -> bool:
        """Add documents; return whether a shard was finished."""
        options = self._options
        dtype = self.writers[TRAIN].dtype
        tokens, offsets = with_ids_around(ids, offsets, options.before, options.after, dtype)
        if not options.validation:
            return self.writers[TRAIN].add(tokens, offsets[1:])
        held_out = np.fromiter(map(self._is_held_out, texts), bool, len(texts))
        sizes = np.diff(offsets)
        is_finished = False
        for name, chosen in ((TRAIN, ~held_out), (VALIDATION, held_out)):
            ends = np.cumsum(sizes[chosen])
            is_finished |= self.writers[name].add(tokens[np.repeat(chosen, sizes)], ends)
        return is_finished

    def begin_long(self, head: bytes) -> LongDocument:
        """Begin a document that comes in parts; `head` is its beginning."""
        name = VALIDATION if self._options.validation and self._is_held_out(head) else TRAIN
        return LongDocument(self.writers[name], self._options)

    def _is_held_out(self, text: bytes) -> bool:
        digest = blake2b(text[:HASHED], digest_size=8).digest()
        return int.from_bytes(digest, "little") < self._options.validation * 2.0**64

    def sync(self) -> dict[str, Any]:
        """Make all documents durable; return the states of the writers for the manifest."""
        for writer in self.writers.values():
            writer.sync()
        return {name: writer.state() for name, writer in self.writers.items()}

    def finish(self) -> None:
        """Finish the last shards."""
        for writer in self.writers.values():
            writer.finish()

    def remove_stale(self) -> None:
        """Remove files that no manifest needs."""
        for writer in self.writers.values():
            writer.remove_stale()

    def close(self) -> None:
        """Close all files."""
        for writer in self.writers.values():
            writer.close()


class LongDocument:
    """A document that is written in parts."""

    def __init__(self, writer: ShardWriter, options: Options) -> None:
        self._writer = writer
        self._after = np.array(options.after, np.uint32)
        self._before = np.array(options.before, np.uint32)
        self._is_finished = False  # whether a shard was finished

    def add(self, ids: Ids) -> None:
        """Append ids."""
        self._is_finished |= self._writer.add(self._before, NO_END)
        self._is_finished |= self._writer.add(ids, NO_END)
        self._before = self._before[:0]

    def end(self) -> bool:
        """End the document; return whether a shard was finished."""
        ends = np.array([len(self._after)], np.int64)
        return self._writer.add(self._after, ends) or self._is_finished


def store_options(options: Options) -> Options:
    """Return the options of the store of a shuffle: one shard, however large, without packing."""
    return replace(options, shard_tokens=1 << 62, pack=None)
