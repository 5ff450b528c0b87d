"""Define `tokenize`, which begins or continues a corpus."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from bpe.corpus.identity import tokenizer_file
from bpe.corpus.layouts import LAYOUTS
from bpe.corpus.local import LocalEngine
from bpe.corpus.lock import NAME as LOCK
from bpe.corpus.lock import locked
from bpe.corpus.manifest import load_manifest, save_manifest
from bpe.corpus.members import TRAIN, VALIDATION, Manifest
from bpe.corpus.options import Options, make_options
from bpe.corpus.reader import Corpus
from bpe.corpus.shards import PART
from bpe.corpus.work import STORE, CorpusEngine, Job
from bpe.encoding.arguments import check_engine
from bpe.errors import CorpusError
from bpe.formats.files import write_atomically
from bpe.inputs import Found, find_inputs, real_paths
from bpe.tokenizer import Tokenizer
from bpe.types import Special

Inputs: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

# How an error shows the options that are not arguments of `tokenize`; {} is the value.
_SHOWN_OPTIONS = {
    "before": "the ids {} before each document",
    "after": "the ids {} after each document",
}


def tokenize(
    inputs: Inputs,
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
    include: str | Iterable[str] = (),
    progress: bool | None = None,
    threads: int | None = None,
    engine: CorpusEngine | None = None,
) -> Corpus:
    """Encode the documents of files, and write their ids to shards in the folder `output`.

    `inputs` are files, folders and glob patterns. Each line of a .jsonl file is an object with a
    document under `field`; blank lines are skipped. Each row of a .parquet file has a document in
    the column `field`. Any other file is one document; with `lines`, each of its lines is a
    document. Files that also end in .gz or .zst are unpacked.

    A folder gives its .txt, .jsonl and .parquet files. With `include`, one glob pattern or several,
    it gives the files whose names match one of them, except binary files: "*" gives every text
    file. A warning of the logger `bpe` says how many files of a folder were left out, by suffix;
    the manifest has these numbers too. Hidden files and folders are not counted.

    Each document gives the ids of `tokenizer.encode(document, special)`, between the tokens `bos`
    and `eos`, which are given by text or by id. `add_special_tokens` puts the ids of the
    tokenizer's template around a document instead. `dtype` is "uint16" or "uint32"; the default is
    "uint16" if the ids fit.

    `layout` is "bin" (tokens only, as nanoGPT reads them), "llmc" (with the header of llm.c),
    "megatron" (.bin and .idx of Megatron-LM), "npy", or "parquet" (a list in each row). The offsets
    of documents are in a .npy file beside each shard. A shard ends with the document that
    brings it to `shard_tokens` tokens (default 2**27). With `pack`, all documents follow each other
    in rows of `pack` tokens, and the token `pad` (default: the last token that is put after a
    document) fills the last row.

    `validation` is the fraction of documents that go to the split "val"; a hash of the document
    decides. `shuffle` is a seed for the order of documents. Shuffling needs 16 bytes of memory for
    each document, and twice the disk space.

    `engine` is None, or `bpe.distributed.ray()` to read and encode on a Ray cluster. The result
    does not depend on `threads` or `engine`.

    Interrupted work continues in the next call with the same arguments, and gives the same files.
    If an error asked for another `special`, `skip_bad` or `max_text`, or to repair a file, the next
    call may do so, and continues too. If the corpus has no document yet, or if an error asked for
    another layout, the next call begins anew, with any arguments. A complete corpus stays as it is.
    The folder also gets a file with the tokenizer, and a manifest with the sha256 of all inputs and
    shards.

    A damaged input raises TextFileError, which names the file and the line; with `skip_bad`,
    damaged documents are counted and listed in the manifest. `max_text` (default 64 MB) is the
    maximum size in bytes of a text that must be encoded as a whole, and of a JSON line without its
    text. A progress bar appears if standard error is a terminal, unless `progress=False`.

    Raises CorpusError if the folder has other files or a corpus of other arguments, if another
    process writes to it, or for a special token that `special` does not allow; OSError if a file
    cannot be read or written.
    """
    options = make_options(
        tokenizer, layout=layout, dtype=dtype, bos=bos, eos=eos,
        add_special_tokens=add_special_tokens, special=special, field=field, lines=lines,
        shard_tokens=shard_tokens, pack=pack, pad=pad, shuffle=shuffle, validation=validation,
        skip_bad=skip_bad, max_text=max_text,
    )  # fmt: skip
    check_engine(threads, engine)
    encoding = engine or LocalEngine(threads)
    LAYOUTS[options.layout].check()
    one = isinstance(inputs, (str, os.PathLike))
    paths: list[Any] = [inputs] if one else [*inputs]  # type: ignore[misc]
    if not paths:
        raise ValueError("inputs is empty; expected files, folders or glob patterns")
    found = find_inputs(paths, include)
    files = found.files
    folder = Path(output)
    _check_apart(files, folder)
    if folder.exists() and not folder.is_dir():
        raise CorpusError(f"{folder}: expected a folder for the corpus, got a file; choose another")
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        manifest = _begin(folder, tokenizer, found, options)
        if not manifest.complete:
            try:
                encoded = partial(encoding.encoded, tokenizer, files, options)
                Job(folder, files, options, manifest, encoded).run(progress)
            except OSError as error:
                # The error of a failed write has no filename. The error of a failed read names
                # the input.
                if error.errno is not None and error.filename is None:
                    error.filename = str(folder)
                raise
        _clean(folder)
    return Corpus(folder)


def _check_apart(files: list[str], folder: Path) -> None:
    """Raise CorpusError if one of `files` is inside `folder`."""
    place = os.path.join(os.path.realpath(folder), "")
    for name, path in zip(files, real_paths(files), strict=True):
        if path.startswith(place):
            raise CorpusError(
                f"{name}: the input is inside the output folder {folder}; choose another folder"
            )


def _begin(folder: Path, tokenizer: Tokenizer, found: Found, options: Options) -> Manifest:
    """Return the manifest of `folder`, new or from an earlier call with the same arguments.

    Raises CorpusError if the folder has other files, or a corpus of other arguments.
    """
    name, data = tokenizer_file(tokenizer)
    files = found.files
    description = {
        "name": tokenizer.name,
        "file": name,
        "bytes": len(data),
        "sha256": sha256(data).hexdigest(),
        "vocab_size": tokenizer.vocab_size,
        "preset": tokenizer.preset.name if tokenizer.preset is not None else None,
        "unicode": tokenizer.to_spec().unicode,
    }
    manifest = load_manifest(folder)
    if manifest is not None and not manifest.documents:
        # The corpus has no document yet, so this call may have any arguments.
        _remove_work(folder, manifest)
        manifest = None
    elif manifest is None:
        for path in folder.iterdir():
            if path.name not in (LOCK, name) and not _is_temporary(path):
                raise CorpusError(
                    f"{folder}: the folder contains {path.name!r}; expected an empty folder, or a "
                    "folder in which an earlier call was interrupted; choose another folder"
                )
    if manifest is None:
        write_atomically(folder / name, data)
        manifest = Manifest(description, options.to_json(), [], left_out=found.left_out)
        manifest.progress = {"files": [_stamp(file) for file in files]}
        save_manifest(manifest, folder)
        return manifest
    _check_same(folder, manifest, description, options)
    if manifest.progress is None:
        stamps = [[item["path"], item["bytes"]] for item in manifest.inputs]
        _check_inputs(folder, stamps, [_stamp(file)[:2] for file in files])
    else:
        stamps = [_stamp(file) for file in files]
        # An error may have asked to repair a file. The files from index `unread` on have no
        # document in the corpus yet, so only their names must be the same as before.
        file, line = manifest.progress["position"]
        unread = file + (line > 0)
        before = manifest.progress["files"]
        known = before[:unread] + [
            [old[0], *new[1:]] for old, new in zip(before[unread:], stamps[unread:], strict=False)
        ]
        _check_inputs(folder, known + before[len(known) :], stamps)
        manifest.progress["files"] = stamps
    return manifest


def _remove_work(folder: Path, manifest: Manifest) -> None:
    """Remove all files of a corpus without documents except its manifest."""
    for path in folder.iterdir():
        is_shard = path.name.startswith(tuple(f"{split}-" for split in (TRAIN, VALIDATION)))
        if is_shard or path.name == manifest.tokenizer["file"]:
            path.unlink()
    _clean(folder)


def _check_same(
    folder: Path, manifest: Manifest, description: dict[str, Any], options: Options
) -> None:
    """Raise CorpusError if this call has another tokenizer, or another value of an option.

    Stores the options of this call in `manifest`.
    """
    hashes = manifest.tokenizer["sha256"], description["sha256"]
    if hashes[0] != hashes[1]:
        before, now = map("a tokenizer with sha256 {}".format, hashes)
        raise _changed(folder, before, now, "tokenizer")
    for key, value in options.to_json().items():
        values = manifest.options.get(key), value
        if values[0] != values[1] and not _may_change(manifest, key, value):
            shown = _SHOWN_OPTIONS.get(key, f"{key}={{}}")
            before, now = (shown.format(f"{value!r:.200}") for value in values)
            raise _changed(folder, before, now, "value")
    manifest.options = options.to_json()


def _may_change(manifest: Manifest, key: str, value: Any) -> bool:
    """Return whether an interrupted call may continue with a new value of an option.

    An error may have asked for the new value. All documents before the error give the same files
    with both values.
    """
    old = manifest.options
    if manifest.complete:
        return False
    if key == "special":
        return bool(old[key] == "raise")
    if key == "skip_bad":
        return not old[key]
    return key == "max_text" and not old["skip_bad"] and bool(old[key] < value)


def _check_inputs(folder: Path, before: list[list[Any]], now: list[list[Any]]) -> None:
    """Raise CorpusError if the files differ; both lists have results of `_stamp`."""
    what = "files, unchanged,"
    for old, new in zip(before, now, strict=False):
        if old != new:
            raise _changed(folder, _shown_input(old), _shown_input(new), what)
    if len(before) != len(now):
        raise _changed(folder, f"{len(before)} input file(s)", f"{len(now)} input file(s)", what)


def _shown_input(stamp: list[Any]) -> str:
    path, size, *times = stamp
    time = "".join(f", modified {datetime.fromtimestamp(ns / 1e9)}" for ns in times)
    return f"the file {path} ({size} bytes{time})"


def _changed(folder: Path, before: str, now: str, what: str) -> CorpusError:
    return CorpusError(
        f"{folder}: the corpus in this folder was made with {before}, but this call has {now}; "
        f"pass the same {what} to continue, or choose another folder"
    )


def _stamp(file: str) -> list[Any]:
    """Return the path, the size and the time of the last change of a file."""
    status = os.stat(file)
    return [file, status.st_size, status.st_mtime_ns]


def _is_temporary(path: Path) -> bool:
    """Return whether `path` may be a temporary file of `write_atomically` in a killed process."""
    return path.name.startswith(".") and path.suffix == ".tmp"


def _clean(folder: Path) -> None:
    """Remove the files of unfinished work from a complete corpus."""
    for path in folder.iterdir():
        if path.name.endswith(PART) or _is_temporary(path):
            path.unlink()
    shutil.rmtree(folder / STORE, ignore_errors=True)
