"""Define Job, which writes encoded documents to a corpus, and saves its position in the inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic
from typing import Protocol

from bpe.corpus.documents import Batch, DocumentPart, Position
from bpe.corpus.encode import Encoded
from bpe.corpus.manifest import save_manifest
from bpe.corpus.members import Manifest
from bpe.corpus.options import Options
from bpe.corpus.shards import LayoutLimitError
from bpe.corpus.shuffle import Store, shuffled_order
from bpe.corpus.sinks import SPOOL, LongDocument, Sink, store_options
from bpe.corpus.threads import InOrder
from bpe.progress import Bar, progress_bar
from bpe.tokenizer import Tokenizer

CHECKPOINT = 1 << 28
"""The manifest is saved when this many bytes of text were written since it was last saved."""
MAX_EXAMPLES = 1000
"""The maximum number of damaged documents that the manifest lists."""
STORE = "unshuffled"
"""The folder of the store, which holds all documents until they are shuffled."""


class CorpusEngine(Protocol):
    """Reads and encodes documents."""

    def encoded(
        self, tokenizer: Tokenizer, files: list[str], options: Options, start: Position
    ) -> Generator[Encoded]:
        """Yield the encoded documents of `files` from `start` on, in order and in batches."""
        ...


class Job:
    """The work of one call: from the position in the manifest to the end."""

    def __init__(
        self,
        folder: Path,
        files: list[str],
        options: Options,
        manifest: Manifest,
        encoded: Callable[[Position], Generator[Encoded]],
    ) -> None:
        """`encoded` yields the encoded documents of `files` from a position on."""
        self._folder = folder
        self._files = files
        self._options = options
        self._manifest = manifest
        self._encoded = encoded
        progress = manifest.progress or {}
        self._progress = progress
        self._position = Position(*progress.get("position", (0, 0)))
        self._shuffled: dict[str, int] | None = progress.get("shuffled")
        self._store: Sink | None = None
        if options.shuffle is not None:
            (folder / STORE).mkdir(exist_ok=True)
            states = progress.get("store", {})
            self._store = Sink(folder / STORE, store_options(options), {}, states)
        self._sink = Sink(folder, options, manifest.splits, progress.get("writers", {}))
        self._writers = [
            writer for sink in (self._store, self._sink) if sink for writer in sink.writers.values()
        ]
        self._dtype = self._sink.writers["train"].dtype
        self._unsaved = 0
        self._long: LongDocument | None = None
        # True during a write. It stays True if the write fails; the state must not be saved then.
        self._is_broken = True

    def run(self, progress: bool | None) -> None:
        """Do all work that is left."""
        try:
            for writer in self._writers:
                writer.resume()
            self._is_broken = False
            self._read_all(progress)
            if self._store is not None and self._options.shuffle is not None:
                with progress_bar("shuffling", "token", progress, self._manifest.tokens) as bar:
                    self._shuffle(self._store, self._options.shuffle, bar)
            self._is_broken = True
            for writer in self._sink.writers.values():
                writer.finish()
            self._manifest.complete = True
            self._manifest.progress = None
            save_manifest(self._manifest, self._folder)
        except LayoutLimitError:
            before = self._manifest
            anew = Manifest(before.tokenizer, before.options, [], left_out=before.left_out)
            anew.progress = {"files": self._progress["files"]}
            save_manifest(anew, self._folder)
            raise
        except BaseException:
            if not self._is_broken:
                # Keep the work that is done. If this fails too, the last manifest is still valid.
                with suppress(OSError):
                    self._save()
            raise
        finally:
            if self._long is not None:
                self._long.close()
            for writer in self._writers:
                writer.close()

    def _read_all(self, progress: bool | None) -> None:
        """Read and encode the inputs from the position on."""
        if self._position.file == len(self._files):
            return
        size = sum(map(os.path.getsize, self._files[self._position.file :]))
        begin, tokens = monotonic(), self._manifest.tokens
        with (
            progress_bar("tokenizing", "B", progress, size) as bar,
            ThreadPoolExecutor(1) as pool,
            closing(self._encoded(self._position)) as items,
        ):
            writer = InOrder(pool)
            for item in items:
                writer.call(self._write, item)
                bar.update(item.batch.read)
                rate = (self._manifest.tokens - tokens) / max(monotonic() - begin, 1e-9)
                bar.set_postfix_str(f"{rate / 1e6:.2f}M tokens/s", False)
            writer.wait()

    def _write(self, item: Encoded) -> None:
        """Write documents, or a part of one."""
        if item.batch.part is not None:
            self._write_part(item, item.batch.part)
            return
        self._is_broken = True
        is_finished = self._first_sink.add(item.tokens, item.offsets, item.held_out)
        documents = len(item.offsets) - 1
        self._commit(item.batch, documents, item.size, len(item.tokens), is_finished)

    def _write_part(self, item: Encoded, part: DocumentPart) -> None:
        """Write a part of a long document; after the last part, count the document."""
        # With skip_bad, a damaged document must not get into the shards. The damage may be in its
        # last part, so its tokens go to a spool file until the whole document is encoded.
        spool = self._folder / SPOOL if self._options.skip_bad else None
        if self._long is None:
            self._long = self._first_sink.begin_long(part.is_held_out, spool)
        long = self._long
        # Writing to the spool file does not change the shards, so the state may still be saved.
        self._is_broken = spool is None
        long.add(item.tokens, item.size)
        if not part.is_last:
            return
        self._long = None
        if part.is_whole:
            self._is_broken = True
            is_finished = long.end()
            around = len(self._options.before) + len(self._options.after)
            self._commit(item.batch, 1, long.size, long.tokens + around, is_finished)
        else:
            long.close()
            self._commit(item.batch, 0, 0, 0, False)

    @property
    def _first_sink(self) -> Sink:
        """The sink that gets documents in the order of the inputs: the store, or else the sink."""
        return self._store or self._sink

    def _commit(
        self, batch: Batch, documents: int, size: int, tokens: int, is_finished: bool
    ) -> None:
        """Count written documents; save the manifest after a shard or CHECKPOINT bytes of text."""
        manifest = self._manifest
        manifest.documents += documents
        manifest.text_bytes += size
        manifest.tokens += tokens
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
        """Make all work durable, and save the position at which the next call continues."""
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
        save_manifest(self._manifest, self._folder)
        for writer in self._writers:
            writer.remove_stale()
        self._unsaved = 0

    def _shuffle(self, unshuffled: Sink, seed: int, bar: Bar) -> None:
        """Copy the documents of `unshuffled`, except those already copied, to the shards."""
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
                # The manifest counts whole documents, so it is saved only where a document ends.
                if len(ends) and (is_finished or self._unsaved >= CHECKPOINT):
                    self._save()
                self._is_broken = not len(ends)
                bar.update(len(tokens))
