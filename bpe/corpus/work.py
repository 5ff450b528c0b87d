"""Define Job, which reads, encodes and writes the documents of a corpus in three threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from time import monotonic

import numpy as np

from bpe.corpus import encode
from bpe.corpus.documents import Batch, Position, ReadOptions, read_batches
from bpe.corpus.encode import DocumentEncoder
from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.manifest import Manifest
from bpe.corpus.options import Options
from bpe.corpus.shards import PART
from bpe.corpus.shuffle import Store, shuffled_order
from bpe.corpus.sinks import HASHED, Sink, store_options
from bpe.corpus.threads import Counter, InOrder, Sized, read_ahead
from bpe.errors import TextFileError
from bpe.progress import Bar, progress_bar
from bpe.text_files import joined
from bpe.tokenizer import Tokenizer
from bpe.types import Ids, Offsets

CHECKPOINT = 1 << 28
"""The number of bytes of text after which the manifest is saved, at least."""
MAX_EXAMPLES = 1000
"""The maximum number of damaged documents that the manifest lists."""
STORE = "unshuffled"
"""The folder of the documents before a shuffle."""
SPOOL = "document" + PART
"""The file of the ids of a long document, until the whole document is encoded."""
SPOOL_BLOCK = 1 << 20


class Job:
    """The work of one call: from the position in the manifest to the end."""

    def __init__(
        self,
        folder: Path,
        tokenizer: Tokenizer,
        files: list[str],
        options: Options,
        manifest: Manifest,
        threads: int | None,
    ) -> None:
        self._folder = folder
        self._files = files
        self._options = options
        self._manifest = manifest
        self._encoder = DocumentEncoder(tokenizer, files, options, threads)
        progress = manifest.progress or {}
        self._progress = progress
        self._position = Position(*progress.get("position", (0, 0)))
        self._shuffled: dict[str, int] | None = progress.get("shuffled")
        self._store: Sink | None = None
        if options.shuffle is not None:
            (folder / STORE).mkdir(exist_ok=True)
            unshuffled = Manifest({}, {}, [])
            self._store = Sink(
                folder / STORE, store_options(options), unshuffled, progress.get("store", {}),
                LAYOUTS["bin"],
            )  # fmt: skip
        self._sink = Sink(folder, options, manifest, progress.get("writers", {}))
        self._dtype = self._sink.writers["train"].dtype
        self._unsaved = 0
        self._is_broken = False  # whether writing has failed

    def run(self, progress: bool | None) -> None:
        """Do all work that is left."""
        try:
            self._read_all(progress)
            self._shuffle_all(progress)
            self._is_broken = True
            self._sink.finish()
            self._manifest.complete = True
            self._manifest.progress = None
            self._manifest.save(self._folder)
        except BaseException:
            if not self._is_broken:
                # Keep the work that is done. If this fails too, the last manifest still holds.
                with suppress(OSError):
                    self._save()
            raise
        finally:
            self._sink.close()
            if self._store is not None:
                self._store.close()

    def _read_all(self, progress: bool | None) -> None:
        """Read and encode the inputs from the position on."""
        if self._position.file == len(self._files):
            return
        size = sum(map(os.path.getsize, self._files[self._position.file :]))
        options = self._options
        read = ReadOptions(options.field, options.lines, options.skip_bad, options.max_text)
        counter = Counter()
        batches = read_batches(self._files, read, self._position, counter.add)
        begin, tokens = monotonic(), self._manifest.tokens
        with (
            progress_bar("tokenizing", "B", progress, size) as bar,
            ThreadPoolExecutor(1) as reading,
            ThreadPoolExecutor(1) as writing,
        ):
            writer = InOrder(writing)
            for batch in read_ahead(reading, batches, lambda batch: batch.blocks is None):
                if batch.blocks is None:
                    ids, offsets = self._encoder.encode(batch)
                    writer.call(self._add, batch, ids, offsets)
                else:
                    # One block is read while the block before is encoded as one part.
                    blocks = read_ahead(reading, joined(batch.blocks, encode.PART))
                    self._add_long(batch, blocks, writer)
                bar.update(counter.take())
                rate = (self._manifest.tokens - tokens) / max(monotonic() - begin, 1e-9)
                bar.set_postfix_str(f"{rate / 1e6:.2f}M tokens/s", False)
            writer.wait()

    def _add(self, batch: Batch, ids: Ids, offsets: Offsets) -> None:
        """Write the documents of a batch."""
        self._is_broken = True
        is_finished = self._first_sink.add(batch.texts, ids, offsets)
        size = sum(map(len, batch.texts))
        self._commit(batch, len(batch.texts), size, len(ids), is_finished)

    def _add_long(self, batch: Batch, blocks: Iterator[bytes], writer: InOrder) -> None:
        """Encode a long document in parts, and write it."""
        try:
            head = b"".join(_at_least(HASHED, blocks))
            counted = Sized(chain([head], blocks))
            parts = self._encoder.encode_blocks(counted, batch.origin(0))
            # With skip_bad, only whole documents may get into the shards.
            if self._options.skip_bad:
                parts = self._spooled(parts)
        except TextFileError as error:
            if not self._options.skip_bad:
                raise
            batch.skipped.append(str(error))
            writer.call(self._commit, batch, 0, 0, 0, False)
            return
        document = self._first_sink.begin_long(head)
        writer.call(self._break)
        count = 0
        for ids in parts:
            count += len(ids)
            writer.call(document.add, ids)
        writer.wait()
        self._commit(batch, 1, counted.size, count, document.end())

    def _break(self) -> None:
        self._is_broken = True

    def _spooled(self, parts: Iterator[Ids]) -> Iterator[Ids]:
        """Return `parts`, after all of them have been written to a file."""
        path = self._folder / SPOOL
        with open(path, "wb") as file:
            for ids in parts:
                file.write(ids.data)
        return _arrays(path)

    @property
    def _first_sink(self) -> Sink:
        """The sink of documents in the order of the inputs."""
        return self._store or self._sink

    def _commit(
        self, batch: Batch, documents: int, size: int, tokens: int, is_finished: bool
    ) -> None:
        """Count what was written; save the manifest if a shard was finished or it is much."""
        manifest = self._manifest
        around = len(self._options.before) + len(self._options.after)
        manifest.documents += documents
        manifest.text_bytes += size
        manifest.tokens += tokens + documents * around
        manifest.inputs += batch.finished
        manifest.skipped += len(batch.skipped)
        room = MAX_EXAMPLES - len(manifest.skipped_examples)
        manifest.skipped_examples += batch.skipped[:room]
        self._position = batch.position
        self._unsaved += size
        if is_finished or self._unsaved >= CHECKPOINT:
            self._save()
        self._is_broken = False

    def _save(self) -> None:
        """Make all work durable, and save where it continues."""
        progress = {
            "files": self._progress["files"],
            "position": list(self._position),
            "writers": self._sink.sync(),
        }
        if self._store is not None:
            progress["store"] = self._store.sync()
        if self._shuffled is not None:
            progress["shuffled"] = self._shuffled
        self._manifest.progress = progress
        self._manifest.save(self._folder)
        self._sink.remove_stale()
        self._unsaved = 0

    def _shuffle_all(self, progress: bool | None) -> None:
        """Write the documents of the store, if there is one, in the order of the seed."""
        if self._store is not None and self._options.shuffle is not None:
            with progress_bar("shuffling", "token", progress, self._manifest.tokens) as bar:
                self._shuffle(self._store, self._options.shuffle, bar)

    def _shuffle(self, unshuffled: Sink, seed: int, bar: Bar) -> None:
        done = self._shuffled or dict.fromkeys(self._sink.writers, 0)
        if self._shuffled is None:
            self._shuffled = done
            self._save()
        states = unshuffled.sync()
        for split, writer in self._sink.writers.items():
            store = Store(self._folder / STORE, split, self._dtype, states[split])
            order = shuffled_order(len(store), seed)
            for tokens, ends in store.chunks(order[done[split] :]):
                self._is_broken = True
                is_finished = writer.add(tokens, ends)
                done[split] += len(ends)
                self._unsaved += tokens.nbytes
                # A manifest says how many documents are done, so it cannot be saved inside one.
                if len(ends) and (is_finished or self._unsaved >= CHECKPOINT):
                    self._save()
                self._is_broken = not len(ends)
                bar.update(len(tokens))


def _at_least(size: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks until they have `size` bytes together."""
    for block in blocks:
        yield block
        size -= len(block)
        if size <= 0:
            return


def _arrays(path: Path) -> Iterator[Ids]:
    with open(path, "rb") as file:
        while block := file.read(SPOOL_BLOCK * 4):
            yield np.frombuffer(block, np.uint32)
