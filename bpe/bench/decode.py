"""Decoding: the ids of a whole text, a list of ints, to a str and to bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from bpe.bench.answers import WrongAnswerError, same_items
from bpe.bench.peer import Calls, CannotError, Peer, guarded
from bpe.bench.peers import able
from bpe.bench.subject import Subject
from bpe.bench.timing import Result, Settings, Watcher, measure

GROUP = "decode"
WAYS: tuple[tuple[str, Callable[[Calls], Callable[[Any], Any] | None]], ...] = (
    ("ids to str", lambda calls: calls.text),
    ("ids to bytes", lambda calls: calls.data),
)


def bench_decode(
    name: str,
    text: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield the figures of decoding the ids of `text`; MB/s are of what is decoded to."""
    ids = subject.bare.encode(text)
    size = float(len(text.encode()))
    for what, of in WAYS:
        makers, absent = able(subject, peers, of, what)
        calls: dict[str, Callable[[Any], Any]] = {}
        for peer, make in makers.items():
            call = of(make())
            assert call is not None  # of those that are able
            try:
                with guarded(peer):
                    _check(f"{name}, {subject.name}, decoded", peer, text, call(ids))
            except CannotError as error:
                absent[peer] = str(error)
                continue
            calls[peer] = call
        todo = {peer: partial(call, ids) for peer, call in calls.items()}
        runs = measure(todo, settings, watch)
        work = dict.fromkeys(runs, size)
        yield Result(GROUP, what, name, subject.name, "B", runs, work, absent)


def _check(where: str, peer: str, text: str, found: str | bytes) -> None:
    wanted = text if isinstance(found, str) else text.encode()
    if found != wanted:
        same_items(where, "character or byte", peer, wanted, found)
        raise WrongAnswerError(f"{where}: {peer} has another {type(found).__name__}")
