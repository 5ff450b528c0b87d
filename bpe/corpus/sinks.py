"""Define Sink, which divides documents among splits and writes them to shards."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.encode import Tokens
from bpe.corpus.members import TRAIN, VALIDATION, Shard
from bpe.corpus.options import Options
from bpe.corpus.shards import PART, ShardWriter
from bpe.types import Offsets

NO_END = np.zeros(0, np.int64)
"""The argument `ends` of ShardWriter.add for tokens in which no document ends."""
SPOOL = "document" + PART
"""The file of the tokens of a long document, until the whole document is encoded."""
SPOOL_BLOCK = 1 << 22
"""The number of bytes of this file that are read at a time: whole tokens of 2 or 4 bytes."""


class Sink:
    """Writes documents to the shards of their splits."""

    def __init__(
        self, folder: Path, options: Options, splits: dict[str, list[Shard]], states: dict[str, Any]
    ) -> None:
        self._options = options
        self.writers = {
            name: ShardWriter(folder, name, options, splits.setdefault(name, []), states.get(name))
            for name in ((TRAIN, VALIDATION) if options.validation else (TRAIN,))
        }

    def add(self, tokens: Tokens, offsets: Offsets, held_out: NDArray[np.bool_] | None) -> bool:
        """Add the documents of an Encoded; return whether a shard was finished."""
        if held_out is None:
            return self.writers[TRAIN].add(tokens, offsets[1:])
        sizes = np.diff(offsets)
        is_finished = False
        for name, chosen in ((TRAIN, ~held_out), (VALIDATION, held_out)):
            ends = np.cumsum(sizes[chosen])
            is_finished |= self.writers[name].add(tokens[np.repeat(chosen, sizes)], ends)
        return is_finished

    def begin_long(self, is_held_out: bool, spool: Path | None) -> LongDocument:
        """Begin a document that comes in parts.

        If `spool` is a path, its tokens go to this file first. They go to the shards only after
        the last part.
        """
        writer = self.writers[VALIDATION if is_held_out else TRAIN]
        return LongDocument(writer, self._options, spool)

    def sync(self) -> dict[str, Any]:
        """Make all documents durable; return the states of the writers for the manifest."""
        for writer in self.writers.values():
            writer.sync()
        return {name: writer.state() for name, writer in self.writers.items()}


class LongDocument:
    """A document that is written in parts. If there is a spool file, they go to it first."""

    def __init__(self, writer: ShardWriter, options: Options, spool: Path | None) -> None:
        self._writer = writer
        self._before = np.array(options.before, np.uint32)
        self._after = np.array(options.after, np.uint32)
        self.size = self.tokens = 0
        """The size of the text in bytes, and the number of tokens so far."""
        self._is_finished = False  # whether a shard was finished
        self._spool = None if spool is None else open(spool, "w+b")  # noqa: SIM115

    def add(self, tokens: Tokens, size: int) -> None:
        """Append the tokens of a part of `size` bytes."""
        self.size += size
        self.tokens += len(tokens)
        if self._spool is None:
            self._write(tokens)
        else:
            self._spool.write(tokens.astype(self._writer.dtype, copy=False).data)

    def _write(self, tokens: Tokens) -> None:
        self._is_finished |= self._writer.add(self._before, NO_END)
        self._is_finished |= self._writer.add(tokens, NO_END)
        self._before = self._before[:0]

    def end(self) -> bool:
        """End the document; return whether a shard was finished."""
        if self._spool is not None:
            self._spool.seek(0)
            while block := self._spool.read(SPOOL_BLOCK):
                self._write(np.frombuffer(block, self._writer.dtype))
            self.close()
        ends = np.array([len(self._after)], np.int64)
        return self._writer.add(self._after, ends) or self._is_finished

    def close(self) -> None:
        """Close the spool file. If the disk is full, data that is not written yet is lost."""
        if self._spool is not None:
            with suppress(OSError):
                self._spool.close()


def store_options(options: Options) -> Options:
    """Return the options of the store, which holds all documents until they are shuffled.

    The store has one shard for each split, however large, and does not pack documents.
    """
    return replace(options, layout="bin", shard_tokens=1 << 62, pack=None)
