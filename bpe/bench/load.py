"""Loading a vocabulary file, until the first word is encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bpe.bench.answers import same_items
from bpe.bench.peer import CannotError, Peer, guarded
from bpe.bench.peers.ours import Ours
from bpe.bench.subject import Subject
from bpe.bench.timing import Result, Settings, Watcher, measure, steady

GROUP = "load"
SAMPLE = "Loaded: it's 12,345 words,\n\n\tΩ and 漢字  too."
WORD = "word"


def bench_load(
    subject: Subject, peers: Sequence[Peer], settings: Settings, watch: Watcher
) -> Iterator[Result]:
    """Yield the figures of loading a .tiktoken file and a tokenizer.json of `subject`.

    The file is the one that was given, or one made of the vocabulary. Encoding one word is part of
    the work, or what is put off until then would be left out. The system has the file in memory.
    """
    for kind, path in _files(subject).items():
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
        todo = {name: partial(_ready, load) for name, load in loaders.items()}
        runs = measure(todo, settings, watch)
        work = dict.fromkeys(runs, 1.0)
        yield Result(GROUP, f"load {kind}", "", subject.name, "call", runs, work, absent)


def _ready(load: Callable[[], Callable[[str], Any]]) -> object:
    encode = load()
    encode(WORD)
    return encode  # so that it is freed behind the clock


def _files(subject: Subject) -> dict[str, Path]:
    found = {"tiktoken": subject.rank_file, "json": subject.json_file}
    if subject.given is not None and Path(subject.given).is_file():
        given = Path(subject.given)
        if given.suffix.lower() in (".tiktoken", ".json"):
            found[given.suffix.lower()[1:]] = given
    return {kind: path for kind, path in found.items() if path is not None}
