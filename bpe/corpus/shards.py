"""Define ShardWriter, which writes the documents of a split to shards."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.layouts.layout import NPY_HEADER_SIZE, OFFSETS_SUFFIX, Staged, npy_header
from bpe.corpus.members import OFFSET, Shard, ShardState
from bpe.corpus.options import Options
from bpe.corpus.shard_files import check_offsets, size_of
from bpe.corpus.write_back import WriteBack
from bpe.errors import CorpusError
from bpe.types import Offsets

PART = ".part"
"""The suffix of files that are not finished."""
HASH_BLOCK = 1 << 20
"""The number of bytes that are hashed at a time."""


class LayoutLimitError(CorpusError):
    """A document or a shard is too large for the layout.

    The same options would fail again, so the next call begins anew, with the options that the
    message asks for.
    """


class ShardWriter:
    """Appends documents to the shards of one split.

    The tokens and the offsets of the open shard are in two files with the suffix .part. `state`
    says how much of both files is durable. A new ShardWriter with this state cuts off all bytes
    after them.
    Only the files of finished shards have their final names.
    """

    def __init__(
        self,
        folder: Path,
        split: str,
        options: Options,
        shards: list[Shard],
        state: dict[str, Any] | None,
    ) -> None:
        """Continue after `shards`, and after the open shard of `state` if it is not None."""
        self.shards = shards
        self._folder = folder
        self._split = split
        self._layout = LAYOUTS[options.layout]
        self._dtype = np.dtype(options.dtype).newbyteorder("<")
        self._limit = options.shard_tokens
        self._row = options.pack
        self._pad = options.pad
        self._files: tuple[_PartFile, _PartFile] | None = None
        self._stale: list[Path] = []
        self._state = ShardState(**(state or {}))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a token."""
        return self._dtype

    def resume(self) -> None:
        """Open the files of the open shard, if there is one; call it before `add`."""
        if self._state.is_open:
            self._open(resume=True)

    def add(self, tokens: NDArray[np.integer], ends: Offsets) -> bool:
        """Append `tokens`. A document ends before tokens[end] for each of the ascending `ends`.

        The last end may be len(tokens), and equal ends stand for empty documents. Tokens after the
        last end belong to a document that the next call continues. Returns whether a shard was
        finished.
        """
        is_finished = False
        while len(tokens) or len(ends):
            room = self._limit - self._state.tokens
            if self._row is None:
                # The document that fills the shard is its last one.
                last = int(np.searchsorted(ends, room))
                size = int(ends[last]) if last < len(ends) else len(tokens)
                count = min(last + 1, len(ends))
                is_full = last < len(ends)
            else:
                # A full shard stays open until another token comes, because the document, and empty
                # documents after it, may end here.
                size = min(room, len(tokens))
                count = int(np.searchsorted(ends, size, side="right"))
                is_full = size < len(tokens)
            self._append(tokens[:size], ends[:count])
            tokens, ends = tokens[size:], ends[count:] - size
            if is_full:
                self._finish()
                is_finished = True
        return is_finished

    def _append(self, tokens: NDArray[np.integer], ends: Offsets) -> None:
        """Append `tokens` to the open shard; `ends` is as in `add`."""
        tokens_file, offsets_file = self._files or self._open(resume=False)
        shard = self._state
        if len(ends):
            ends = ends + shard.tokens
            self._check_sizes(ends)
            offsets_file.write(ends.astype(OFFSET, copy=False))
            shard.document_start = int(ends[-1])
        tokens_file.write(tokens.astype(self._dtype, copy=False))
        shard.tokens += len(tokens)
        shard.documents += len(ends)
        shard.is_inside = shard.tokens > shard.document_start

    def _check_sizes(self, ends: Offsets) -> None:
        limit = self._layout.max_row
        if self._row is not None or limit is None:
            return
        if np.diff(ends, prepend=self._state.document_start).max() > limit:
            raise LayoutLimitError(
                f"a document has more than {limit} tokens, the maximum of layout "
                f"{self._layout.name!r}; choose another layout, or pass pack=<number> to cut "
                "documents into rows of that many tokens"
            )

    def _place(self) -> Path:
        """Return the path of the open shard without a suffix."""
        return self._folder / f"{self._split}-{len(self.shards):05}"

    def _open(self, resume: bool) -> tuple[_PartFile, _PartFile]:
        """Open the files of the open shard; `resume` keeps their data."""
        place, shard = self._place(), self._state
        # (suffix, size of the header, size of the data). Offset 0, the first one in the file of
        # offsets, counts as a part of the header.
        sizes = (
            (self._layout.suffix, self._layout.header_size, shard.tokens * self._dtype.itemsize),
            (OFFSETS_SUFFIX, NPY_HEADER_SIZE + OFFSET.itemsize, shard.documents * OFFSET.itemsize),
        )
        made: list[_PartFile] = []
        try:
            for suffix, header, data in sizes:
                path = place.with_name(place.name + suffix)
                made.append(_PartFile(path, header, data if resume else None))
        except BaseException:
            for file in made:
                file.close()
            raise
        tokens_file, offsets_file = made
        self._files = tokens_file, offsets_file
        shard.is_open = True
        if resume:
            offsets = np.memmap(
                offsets_file.part, OFFSET, "r", NPY_HEADER_SIZE, (shard.documents + 1,)
            )
            check_offsets(offsets_file.part, offsets, shard.document_start)
        return self._files

    def sync(self) -> None:
        """Make all documents that were added durable."""
        for file in self._files or ():
            file.sync()

    def state(self) -> dict[str, Any]:
        """Return the state of the open shard for the manifest."""
        return {**vars(self._state)}

    def remove_stale(self) -> None:
        """Remove the .part files of finished shards whose layout wrote the tokens to another file.

        Call it after a manifest with all finished shards was saved. With an older manifest, an
        interrupted job continues from the .part files.
        """
        for path in self._stale:
            path.unlink(missing_ok=True)
        self._stale = []

    def close(self) -> None:
        """Close the files of the open shard, and keep them."""
        for file in self._files or ():
            file.close()
        self._files = None

    def finish(self) -> None:
        """Finish the open shard, if there is one."""
        if self._files is not None:
            self._finish()

    def _finish(self) -> None:
        """Finish the open shard."""
        assert self._files is not None
        shard = self._state
        padding = 0 if self._row is None else -shard.tokens % self._row
        tokens_file, offsets_file = self._files
        if shard.is_inside:
            offsets_file.write(np.array([shard.tokens], OFFSET))
        documents = shard.documents + shard.is_inside
        tokens_file.write(np.full(padding, self._pad, self._dtype))
        count = shard.tokens + padding
        limit = self._layout.max_shard
        if limit is not None and count > limit:
            raise LayoutLimitError(
                f"a shard has {count} tokens, but layout {self._layout.name!r} holds at most "
                f"{limit}; pass a smaller shard_tokens=, or split the longest documents"
            )
        tokens_file.finish(self._layout.header(count, self._dtype, self._row))
        offsets_file.finish(npy_header(OFFSET, (documents + 1,)) + bytes(OFFSET.itemsize))
        place = self._place()
        offsets = np.memmap(
            offsets_file.part, OFFSET, "r", offset=NPY_HEADER_SIZE, shape=(documents + 1,)
        )
        staged = Staged(
            tokens_file.part, self._layout.header_size, count, self._dtype, offsets, self._row
        )
        paths = self._layout.finish(staged, place)
        del staged, offsets
        files = {path.name: _description(path) for path in paths}
        for file in self._files:
            if file.path in paths:
                self._stale.append(file.part)
            else:
                os.replace(file.part, file.path)
                files[file.path.name] = file.description()
        before = self.shards[-1].next_document if self.shards else 0
        # If the previous shard ended within a document, this shard begins with the rest of it, and
        # `next_document` is the index of this document.
        files = dict(sorted(files.items()))
        self.shards.append(
            Shard(place.name, count, padding, before, documents, shard.is_inside, files)
        )
        self._files, self._state = None, ShardState()


class _PartFile:
    """A file with the suffix .part: a header, written last, and data that is only appended."""

    def __init__(self, path: Path, header_size: int, data_size: int | None) -> None:
        """Create the file if `data_size` is None; else keep its first `data_size` bytes of data."""
        self.path = path
        self.part = path.with_name(path.name + PART)
        # The header is written last, so only a file without a header is hashed while it is written.
        self._digest = None if header_size else hashlib.sha256()
        self._write_back = WriteBack(header_size + (data_size or 0))
        if data_size is not None:
            # Without a .part file, the shard was finished after the manifest was saved. Rename its
            # file back, because the manifest still has the shard as open.
            if not self.part.exists():
                with suppress(FileNotFoundError):
                    os.replace(path, self.part)
            self._file: IO[bytes] = _opened_again(self.part, header_size + data_size)
            if self._digest is not None:
                self._digest = digest_of(self.part)
        else:
            self._file = open(self.part, "wb")  # noqa: SIM115
            self._file.write(bytes(header_size))

    def write(self, values: NDArray[Any]) -> None:
        """Append an array."""
        data = np.ascontiguousarray(values).data.cast("B")
        if self._digest is not None:
            # Hash first: it loads the data into the cache, from which the system copies it.
            self._digest.update(data)
        self._file.write(data)
        self._write_back.add(self._file.fileno(), len(data))

    def sync(self) -> None:
        """Make the data durable."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file. If the disk is full, data that is not written yet is lost."""
        with suppress(OSError):
            self._file.close()

    def description(self) -> dict[str, Any]:
        """Return the size and the sha256 of the finished file."""
        if self._digest is None:
            return _description(self.path)
        return {"bytes": self.path.stat().st_size, "sha256": self._digest.hexdigest()}

    def finish(self, header: bytes) -> None:
        """Write the header, make the file durable and close it."""
        self._file.close()
        with open(self.part, "r+b") as file:
            file.write(header)
            file.flush()
            os.fsync(file.fileno())


def _opened_again(path: Path, size: int) -> IO[bytes]:
    """Open the file of an interrupted call, with its first `size` bytes."""
    if not os.path.lexists(path) or size_of(path) < size:
        raise CorpusError(
            f"{path}: the interrupted call wrote {size} bytes or more to this file, but it is "
            "missing or shorter; delete the folder and begin again"
        )
    os.truncate(path, size)
    return open(path, "ab")


def _description(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def sha256_of(path: str | os.PathLike[str]) -> str:
    """Return the sha256 of a file in hexadecimal."""
    return digest_of(path).hexdigest()


def digest_of(path: str | os.PathLike[str]) -> hashlib._Hash:
    """Return the sha256 of a file, to which more bytes can be added."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(HASH_BLOCK):
            digest.update(block)
    return digest
