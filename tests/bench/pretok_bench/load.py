"""Measure loading a vocabulary file and encoding a first word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pretok_bench.answers import same_items
from pretok_bench.peer import CannotError, Peer, guarded
from pretok_bench.peers.ours import Ours
from pretok_bench.subject import Subject
from pretok_bench.timing import Result, Settings, Watcher, measure, steady

GROUP = "load"
SAMPLE = "Loaded: it's 12,345 words,\n\n\tΩ and 漢字  too."
"""The text whose ids are compared before the measurement."""
WORD = "word"
"""The text that each run encodes after loading."""


def bench_load(
    subject: Subject, peers: Sequence[Peer], settings: Settings, watch: Watcher
) -> Iterator[Result]:
    """Yield the results of loading the files of `subject`: .tiktoken, tokenizer.json and .model.

    If `subject` was loaded from a file of one of these formats, this file is used; any other file
    is written from the vocabulary. Each run also encodes WORD, so that the time includes tables
    that a package builds at the first call. Each file has been read before the measurement, so it
    is in the cache of the operating system.
    """
    for format, path in _files(subject).items():
        loaders: dict[str, Callable[[], Callable[[str], Any]]] = {}
        absent: dict[str, str] = {}
        ours: list[int] = []
        for peer in (Ours(), *peers):
            try:
                with guarded(peer.name, settings.is_strict), steady():
                    load = peer.loader(str(path), subject)
                    ids = list(load()(SAMPLE))
                    ours = ours or ids
                    same_items(f"{path.name}, {SAMPLE!a}", "id", peer.name, ours, ids)
            except CannotError as error:
                absent[peer.name] = str(error)
                continue
            loaders[peer.name] = load
        calls = {name: partial(_load_and_encode, load) for name, load in loaders.items()}
        runs = measure(calls, settings, watch)
        work = dict.fromkeys(runs, 1.0)
        yield Result(GROUP, f"load {format}", "", subject.name, "call", runs, work, absent)


def _load_and_encode(load: Callable[[], Callable[[str], Any]]) -> object:
    encode = load()
    encode(WORD)
    return encode  # `seconds` stops the clock before it frees the tokenizer


def _files(subject: Subject) -> dict[str, Path]:
    """Return the file of each format that can hold the vocabulary."""
    files = {
        "tiktoken": subject.rank_file,
        "json": subject.json_file,
        "model": subject.model_file,
    }
    if subject.source is not None and Path(subject.source).is_file():
        source = Path(subject.source)
        if source.suffix.lower() in (".tiktoken", ".json"):
            files[source.suffix.lower()[1:]] = source
    return {format: path for format, path in files.items() if path is not None}
