"""Measure files to tokens: `pretok tokenize` against the loops and calls that do the same work."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bpe
from pretok_bench.answers import Arrays, same_arrays
from pretok_bench.inputs import documents
from pretok_bench.peer import CannotError, Peer, guarded
from pretok_bench.peers.gigatoken import Gigatoken
from pretok_bench.subject import Subject
from pretok_bench.timing import (
    OURS,
    Result,
    Settings,
    Watcher,
    alternate,
    core_count,
    once,
    steady,
)

GROUP = "corpus"
MEMORY = "in memory"
"""The name of pretok's encode_batch_array for the same documents in a list, where results compare
the files with it."""


class Input(NamedTuple):
    """A file, and the documents that it has."""

    path: Path
    texts: list[str]


class Work(NamedTuple):
    """One run: `call` does the timed work, and `arrays` converts its result to Arrays."""

    call: Callable[[], Any]
    arrays: Callable[[Any], Arrays]


Maker = Callable[[Subject, Input, Path, int], Work]
"""Prepares the Work of one run, with a new tokenizer: (vocabulary, input, empty folder for output,
number of threads). Raises CannotError if the contender cannot do it."""


def bench_corpus(
    name: str,
    text: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield the results for each type of file with the documents of `text`.

    Each run begins with a new tokenizer, so its caches are cold; making it is not timed. pretok,
    Megatron-LM's loop and DataTrove write the tokens to files; gigatoken and MEMORY return them.
    """
    present = {peer.name for peer in peers}
    makers: dict[str, Maker] = {OURS: _tokenize, MEMORY: _in_memory}
    makers |= {each: make for each, (peer, make) in PEERS.items() if peer in present}
    with tempfile.TemporaryDirectory(dir=subject.folder) as folder:
        for suffix, source in _inputs(text, Path(folder)):
            for way, threads, pinned in _ways(core_count()):
                what = f"{suffix[1:]}, {way}"
                runs: dict[str, Callable[[], tuple[float]]] = {}
                absent: dict[str, str] = {}
                for contender, make in makers.items():
                    run = partial(_run, contender, make, subject, source, threads)
                    try:
                        with guarded(contender, settings.is_strict), steady(pinned):
                            answer = _answer(make, subject, source, threads)
                            if contender == OURS:
                                ours = answer
                            same_arrays(f"{name}, {subject.name}", contender, ours, answer)
                    except CannotError as error:
                        absent[contender] = str(error)
                    else:
                        runs[contender] = run
                rounds = alternate(runs, settings, watch, pinned)
                times = {each: tuple(run[0] for run in found) for each, found in rounds.items()}
                work = dict.fromkeys(times, float(len(text.encode())))
                yield Result(GROUP, what, name, subject.name, "B", times, work, absent)


def _ways(cores: int) -> Iterator[tuple[str, int, bool]]:
    """Yield each way to measure: its name, the number of threads that encode, and `pinned`.

    With one thread, pretok and gigatoken read and write in further threads. If `pinned`, all of
    them share one core.
    """
    yield "one core", 1, True
    if cores > 1:
        yield "one thread", 1, False
        yield "all cores", cores, False


def _run(name: str, make: Maker, subject: Subject, source: Input, threads: int) -> tuple[float]:
    """Return the seconds of one run of the contender `name`."""
    with tempfile.TemporaryDirectory(dir=subject.folder) as folder, guarded(name):
        return once(make(subject, source, Path(folder), threads).call)


def _answer(make: Maker, subject: Subject, source: Input, threads: int) -> Arrays:
    """Return the result of one run."""
    with tempfile.TemporaryDirectory(dir=subject.folder) as folder:
        work = make(subject, source, Path(folder), threads)
        return work.arrays(work.call())


def _inputs(text: str, folder: Path) -> Iterator[tuple[str, Input]]:
    """Write the documents of `text` to a file of each type; yield its suffix, and the Input."""
    texts = documents(text)
    rows = (json.dumps({"text": part}, ensure_ascii=False) for part in texts)
    lines = "".join(f"{row}\n" for row in rows).encode()
    contents = {".jsonl": lines, ".txt": text.encode()}
    try:
        import zstandard
    except ImportError:
        contents[".jsonl.gz"] = gzip.compress(lines)
    else:
        contents[".jsonl.zst"] = zstandard.compress(lines)
    for suffix, data in contents.items():
        path = folder / f"texts{suffix}"
        path.write_bytes(data)
        yield suffix, Input(path, [text] if suffix == ".txt" else texts)


def _tokenize(subject: Subject, source: Input, folder: Path, threads: int) -> Work:
    tokenizer = subject.fresh()

    def call() -> bpe.corpus.Corpus:
        return bpe.corpus.tokenize(
            source.path, folder / "out", tokenizer, special="text", threads=threads, progress=False
        )

    def arrays(corpus: bpe.corpus.Corpus) -> Arrays:
        ids = [corpus.document(index) for index in range(corpus.document_count())]
        return _joined(ids)

    return Work(call, arrays)


def _in_memory(subject: Subject, source: Input, folder: Path, threads: int) -> Work:
    tokenizer = subject.fresh()
    call = partial(tokenizer.encode_batch_array, source.texts, "text", threads=threads)
    return Work(call, lambda arrays: arrays)


def _gigatoken(subject: Subject, source: Input, folder: Path, threads: int) -> Work:
    call, arrays = Gigatoken().files(subject, source.path)
    return Work(partial(call, threads), arrays)


def _megatron(subject: Subject, source: Input, folder: Path, threads: int) -> Work:
    """Do what tools/preprocess_data.py of Megatron-LM does, in one process.

    It parses each line, encodes the text with tokenizers, and appends the ids to a file.
    """
    tokenizer = _of_tokenizers(subject, source)
    if threads != 1:
        raise CannotError("it uses processes, each with a part of the file")
    path = folder / "out.bin"
    dtype = np.uint16 if subject.tokenizer.vocab_size <= 1 << 16 else np.int32

    def call() -> list[int]:
        lengths = []
        with open(source.path, "rb") as file, open(path, "wb") as out:
            for line in file:
                ids = tokenizer.encode(json.loads(line)["text"], add_special_tokens=False).ids
                out.write(np.array(ids, dtype).tobytes())
                lengths.append(len(ids))
        return lengths

    return Work(call, lambda lengths: _of_file(path, dtype, np.cumsum([0, *lengths])))


def _datatrove(subject: Subject, source: Input, folder: Path, threads: int) -> Work:
    _of_tokenizers(subject, source)
    if threads != 1:
        raise CannotError("it uses processes, each with some of the files")
    try:
        from datatrove.pipeline.readers import JsonlReader
        from datatrove.pipeline.tokens import DocumentTokenizer
    except ImportError as error:
        raise CannotError(f"DataTrove is not installed: {error}") from None
    reader = JsonlReader(str(source.path.parent), glob_pattern=source.path.name)
    step = DocumentTokenizer(
        str(folder), str(subject.json_file), shuffle_documents=False, save_final_metadata=False
    )
    assert step.tokenizer is not None  # loads the tokenizer

    def arrays(_: object) -> Arrays:
        ends = np.fromfile(next(folder.glob("*.ds.index")), np.uint64).astype(np.int64)
        path = next(path for path in folder.glob("*.ds"))
        return _of_file(path, np.dtype(f"u{step.token_size}"), np.concatenate([[0], ends]))

    return Work(lambda: step.run(reader.run()), arrays)


PEERS: dict[str, tuple[str, Maker]] = {
    "gigatoken": ("gigatoken", _gigatoken),
    "Megatron-LM": ("tokenizers", _megatron),
    "DataTrove": ("tokenizers", _datatrove),
}
"""The other contenders: the peer that must be installed, and the Maker."""


def _of_tokenizers(subject: Subject, source: Input) -> Any:
    """Return the Tokenizer of tokenizers; raise CannotError for files that are not JSON lines."""
    if source.path.suffix != ".jsonl":
        raise CannotError("it is measured with JSON lines that are not compressed")
    if subject.json_file is None:
        raise CannotError("no tokenizer.json can hold this vocabulary")
    import tokenizers

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return tokenizers.Tokenizer.from_file(str(subject.json_file))


def _of_file(path: Path, dtype: Any, offsets: Any) -> Arrays:
    return np.fromfile(path, dtype).astype(np.uint32), offsets


def _joined(rows: Sequence[Any]) -> Arrays:
    ids = np.concatenate([np.zeros(0, np.uint32), *rows])
    return ids, np.cumsum([0, *map(len, rows)])
