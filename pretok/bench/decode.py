"""Decoding: the ids of a whole text, a list of ints, to a str and to bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from pretok.bench.answers import WrongAnswerError, same_items
from pretok.bench.peers import Calls, Peer, able
from pretok.bench.subject import Subject
from pretok.bench.timing import Result, Settings, Watcher, alternate, seconds

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
            _check(f"{name}, {subject.name}, decoded", peer, text, call(ids))
            calls[peer] = call
        found = alternate(
            {peer: partial(_once, call, ids) for peer, call in calls.items()}, settings, watch
        )
        runs = {peer: tuple(times[0] for times in each) for peer, each in found.items()}
        work = dict.fromkeys(runs, size)
        yield Result(GROUP, what, name, subject.name, "B", runs, work, absent)


def _once(call: Callable[[Any], Any], ids: list[int]) -> tuple[float]:
    return (seconds(call, ids),)


def _check(where: str, peer: str, text: str, found: str | bytes) -> None:
    wanted = text if isinstance(found, str) else text.encode()
    if found != wanted:
        same_items(where, "character or byte", peer, wanted, found)
        raise WrongAnswerError(f"{where}: {peer} has another {type(found).__name__}")
