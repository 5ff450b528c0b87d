"""Define `tokenize`, which reads, encodes and writes a corpus in three threads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.documents import Batch, Position, ReadOptions, read_batches
from bpe.corpus.encode import DocumentEncoder
from bpe.corpus.inputs import find_inputs
from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.lock import NAME as LOCK
from bpe.corpus.lock import locked
from bpe.corpus.manifest import Manifest, load_manifest
from bpe.corpus.options import Options, make_options
from bpe.corpus.reader import Corpus
from bpe.corpus.shards import PART
from bpe.corpus.shuffle import Store, shuffled_order
from bpe.corpus.sinks import HASHED, Sink, store_options
from bpe.encoding.arguments import resolve_threads
from bpe.errors import CorpusError, TextFileError, UnsupportedError, VocabularyError
from bpe.formats.files import write_atomically
from bpe.formats.registry import dump
from bpe.progress import Bar, progress_bar
from bpe.tokenizer import Tokenizer
from bpe.types import Ids, Offsets, Special

CHECKPOINT = 1 << 28
"""The number of bytes of text after which the manifest is saved, at least."""
MAX_EXAMPLES = 1000
"""The maximum number of damaged documents that the manifest lists."""
STORE = "unshuffled"
"""The folder of the documents before a shuffle."""
SPOOL = "document" + PART
"""The file of the ids of a long document, until the whole document is encoded."""
SPOOL_BLOCK = 1 << 20

Item = TypeVar("Item")


def tokenize(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    tokenizer: Tokenizer,
    *,
    layout: str = "bin",
    dtype: str | None = None,
    bos: str | int | None = None,
    eos: str | int | None = None,
    add_special_tokens: bool = False,
    special: Special = "raise",
    field: str = "text",
    lines: bool = False,
    shard_tokens: int | None = None,
    pack: int | None = None,
    pad: str | int | None = None,
    shuffle: int | None = None,
    validation: float = 0.0,
    skip_bad: bool = False,
    max_text: int | None = None,
    progress: bool | None = None,
    threads: int | None = None,
) -> Corpus:
    """Encode the documents of files, write their ids to shards in the folder `output`.

    `inputs` are files, folders and glob patterns. A .txt file is one document, or with `lines` each
    of its lines is one. Each line of a .jsonl file is an object with a document under `field`;
    blank lines are skipped. Each row of a .parquet file has a document in the column `field`. Files
    that also end in .gz or .zst are unpacked.

    Each document gives the ids of `tokenizer.encode(document, special)`, between the tokens `bos`
    and `eos`, each the text or the id of a token; or with the ids that `add_special_tokens` puts
    around a text. `dtype` is "uint16" or "uint32"; the default is the smaller one that fits.

    `layout` is "bin" (tokens only, as nanoGPT reads them), "llmc" (with the header of llm.c),
    "megatron" (.bin and .idx of Megatron-LM), "npy", or "parquet" (a list in each row). The offsets
    of documents are in a .npy file beside each shard. The document that brings a shard to
    `shard_tokens` (default 2**27) is its last one. With `pack`, all documents follow each other in
    rows of `pack` tokens, and `pad` (default: the last id after a document) fills the last row.

    `validation` is the fraction of documents that go to the split "val"; a hash of the document
    decides. `shuffle` is a seed for the order of documents, which needs 16 bytes of memory for each
    document, and the space of the tokens a second time on the disk.

    The result does not depend on `threads`. Interrupted work continues in the next call with the
    same arguments, and gives the same files. A complete corpus stays as it is. The folder also
    gets a manifest with the sha256 of all inputs and shards, and the tokenizer.

    A damaged input raises TextFileError, which names the file and the line; with `skip_bad`,
    damaged documents are counted and listed in the manifest. `max_text` (default 64 MB) is the
    maximum size of a line, and of a text that cannot be encoded in parts. A progress bar appears if
    standard error is a terminal, unless `progress=False`.

    Raises CorpusError if the folder has other files or another process writes to it, or for a
    special token that `special` does not allow; OSError.
    """
    options = make_options(
        tokenizer, layout=layout, dtype=dtype, bos=bos, eos=eos,
        add_special_tokens=add_special_tokens, special=special, field=field, lines=lines,
        shard_tokens=shard_tokens, pack=pack, pad=pad, shuffle=shuffle, validation=validation,
        skip_bad=skip_bad, max_text=max_text,
    )  # fmt: skip
    resolve_threads(threads)
    LAYOUTS[layout].check()
    one = isinstance(inputs, (str, os.PathLike))
    files = find_inputs([inputs] if one else inputs)  # type: ignore[list-item, arg-type]
    folder = Path(output)
    _check_apart(files, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        manifest = _begin(folder, tokenizer, files, options)
        if not manifest.complete:
            job = _Job(folder, tokenizer, files, options, manifest, threads)
            job.run(progress)
        _clean(folder)
    return Corpus(folder)


def _check_apart(files: list[str], folder: Path) -> None:
    """Raise CorpusError if one of `files` is inside `folder`."""
    place = os.path.join(os.path.realpath(folder), "")
    for name in files:
        if os.path.realpath(name).startswith(place):
            raise CorpusError(
                f"{name}: the input is inside the output folder {folder}; choose another folder"
            )


def _begin(folder: Path, tokenizer: Tokenizer, files: list[str], options: Options) -> Manifest:
    """Return the manifest of `folder`, new or of interrupted work; raise CorpusError."""
    name, data = _tokenizer_file(tokenizer)
    description = {
        "name": tokenizer.name,
        "file": name,
        "sha256": sha256(data).hexdigest(),
        "vocab_size": tokenizer.vocab_size,
        "preset": tokenizer.preset.name if tokenizer.preset is not None else None,
        "unicode": tokenizer.to_spec().unicode,
    }
    manifest = load_manifest(folder)
    if manifest is None:
        for path in folder.iterdir():
            if path.name not in (LOCK, name) and not _is_temporary(path):
                raise CorpusError(
                    f"{folder}: expected an empty folder or interrupted work, got a folder with "
                    f"{path.name!r}; choose another folder"
                )
        write_atomically(folder / name, data)
        manifest = Manifest(description, options.to_json(), [])
        manifest.progress = {"files": [_stamp(file) for file in files]}
        manifest.save(folder)
        return manifest
    _check_same(folder, "tokenizer", manifest.tokenizer["sha256"], description["sha256"])
    for key, value in options.to_json().items():
        _check_same(folder, f"{key}=", manifest.options.get(key), value)
    if manifest.progress is None:
        stamps = [[item["path"], item["bytes"]] for item in manifest.inputs]
        _check_same(folder, "inputs", stamps, [_stamp(file)[:2] for file in files])
    else:
        stamps = manifest.progress["files"]
        _check_same(folder, "inputs", stamps, [_stamp(file) for file in files])
    return manifest


def _check_same(folder: Path, name: str, before: object, now: object) -> None:
    if before != now:
        raise CorpusError(
            f"{folder}: the folder has a corpus with other {name.rstrip('=')} ({before!r:.200}, "
            f"now {now!r:.200}); pass the same to continue or to keep it, or choose another folder"
        )


def _stamp(file: str) -> list[Any]:
    """Return the path, the size and the time of the last change of a file."""
    status = os.stat(file)
    return [file, status.st_size, status.st_mtime_ns]


def _tokenizer_file(tokenizer: Tokenizer) -> tuple[str, bytes]:
    """Return the name and the content of the file that holds `tokenizer`."""
    spec = tokenizer.to_spec()
    reasons = []
    for suffix in (".pretok", ".json", ".model"):
        try:
            return f"tokenizer{suffix}", dump(spec, f"tokenizer{suffix}")
        except (UnsupportedError, VocabularyError) as error:
            reasons.append(str(error))
    raise UnsupportedError(
        f"a corpus stores its tokenizer, but no file can hold this one: {'; '.join(reasons)}"
    )


def _is_temporary(path: Path) -> bool:
    """Return whether `path` may be a file of `write_atomically` in a process that was killed."""
    return path.name.startswith(".") and path.suffix == ".tmp"


def _clean(folder: Path) -> None:
    """Remove the files of unfinished work from a complete corpus."""
    for path in folder.iterdir():
        if path.name.endswith(PART) or _is_temporary(path):
            path.unlink()
    shutil.rmtree(folder / STORE, ignore_errors=True)


class _Job:
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
            if self._position.file < len(self._files):
                size = sum(map(os.path.getsize, self._files[self._position.file :]))
                with progress_bar("tokenizing", "B", progress, size) as bar:
                    self._read_all(bar)
            if self._store is not None:
                with progress_bar("shuffling", "token", progress, self._manifest.tokens) as bar:
                    self._shuffle(bar)
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

    def _read_all(self, bar: Bar) -> None:
        options = self._options
        read = ReadOptions(options.field, options.lines, options.skip_bad, options.max_text)
        counter = _Counter()
        batches = read_batches(self._files, read, self._position, counter.add)
        commit: Future[None] | None = None
        begin, tokens = monotonic(), self._manifest.tokens
        with ThreadPoolExecutor(2) as pool:
            for batch in _read_ahead(pool, batches, lambda batch: batch.blocks is None):
                work: Callable[[], bool]
                if batch.blocks is None:
                    work = partial(self._add, batch, *self._encoder.encode(batch))
                if commit is not None:
                    commit.result()
                if batch.blocks is not None:
                    work = self._encode_long(batch, _read_ahead(pool, batch.blocks))
                commit = pool.submit(self._commit, batch, work)
                bar.update(counter.take())
                rate = (self._manifest.tokens - tokens) / max(monotonic() - begin, 1e-9)
                bar.set_postfix_str(f"{rate / 1e6:.2f}M tokens/s", False)
            if commit is not None:
                commit.result()

    def _encode_long(self, batch: Batch, blocks: Iterator[bytes]) -> Callable[[], bool]:
        """Encode a long document into a file; return the function that adds it to the shards."""
        origin = batch.origin(0)
        head, size, count = b"", 0, 0
        try:
            head = b"".join(_at_least(HASHED, blocks))
            size = len(head)
            counted = _Sized(chain([head], blocks))
            with open(self._folder / SPOOL, "wb") as file:
                for ids in self._encoder.encode_blocks(counted, origin):
                    file.write(ids.astype(self._dtype, copy=False).tobytes())
                    count += len(ids)
            size = counted.size
        except TextFileError as error:
            if not self._options.skip_bad:
                raise
            batch.skipped.append(str(error))
            return lambda: False
        return partial(self._add_long, head, size, count)

    def _add(self, batch: Batch, ids: Ids, offsets: Offsets) -> bool:
        self._count(len(batch.texts), sum(map(len, batch.texts)), len(ids))
        return (self._store or self._sink).add(batch.texts, ids, offsets)

    def _add_long(self, head: bytes, size: int, count: int) -> bool:
        self._count(1, size, count)
        with open(self._folder / SPOOL, "rb") as file:
            return (self._store or self._sink).add_long(head, _arrays(file, self._dtype))

    def _count(self, documents: int, size: int, tokens: int) -> None:
        around = len(self._options.before) + len(self._options.after)
        self._manifest.documents += documents
        self._manifest.text_bytes += size
        self._manifest.tokens += tokens + documents * around
        self._unsaved += size

    def _commit(self, batch: Batch, add: Callable[[], bool]) -> None:
        """Write a batch, and save the manifest if a shard was finished or much was written."""
        self._is_broken = True
        is_finished = add()
        manifest = self._manifest
        manifest.inputs += batch.finished
        manifest.skipped += len(batch.skipped)
        room = MAX_EXAMPLES - len(manifest.skipped_examples)
        manifest.skipped_examples += batch.skipped[:room]
        self._position = batch.position
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

    def _shuffle(self, bar: Bar) -> None:
        """Write the documents of the store in the order of the seed."""
        assert self._store is not None
        assert self._options.shuffle is not None
        done = self._shuffled or dict.fromkeys(self._sink.writers, 0)
        if self._shuffled is None:
            self._shuffled = done
            self._save()
        states = self._store.sync()
        for split, writer in self._sink.writers.items():
            store = Store(self._folder / STORE, split, self._dtype, states[split])
            order = shuffled_order(len(store), self._options.shuffle)
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


class _Counter:
    """Counts bytes in one thread for another."""

    def __init__(self) -> None:
        self._total = self._taken = 0

    def add(self, size: int) -> None:
        """Count `size` bytes."""
        self._total += size

    def take(self) -> int:
        """Return the number of bytes since the call before."""
        taken, self._taken = self._taken, self._total
        return self._taken - taken


class _Sized(Iterator[bytes]):
    """Iterates over blocks and sums up their sizes."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self.size = 0

    def __next__(self) -> bytes:
        block = next(self._blocks)
        self.size += len(block)
        return block


def _read_ahead(
    pool: ThreadPoolExecutor,
    items: Iterator[Item],
    may_read: Callable[[Item], bool] = lambda item: True,
) -> Iterator[Item]:
    """Yield `items`; another thread takes the next item early, if `may_read` is true for this."""
    end = object()
    future: Future[Any] = pool.submit(next, items, end)
    while (item := future.result()) is not end:
        if may_read(item):
            future = pool.submit(next, items, end)
            yield item
        else:
            yield item
            future = pool.submit(next, items, end)


def _at_least(size: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks until they have `size` bytes together."""
    for block in blocks:
        yield block
        size -= len(block)
        if size <= 0:
            return


def _arrays(file: IO[bytes], dtype: np.dtype[Any]) -> Iterator[NDArray[np.integer]]:
    while block := file.read(SPOOL_BLOCK * dtype.itemsize):
        yield np.frombuffer(block, dtype)
