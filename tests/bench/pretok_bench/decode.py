"""Measure decoding: a list with the ids of a whole text, to a str and to bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from pretok_bench.answers import WrongAnswerError, same_items
from pretok_bench.peer import Calls, CannotError, Peer, guarded
from pretok_bench.peers import able
from pretok_bench.subject import Subject
from pretok_bench.timing import Result, Settings, Watcher, measure

GROUP = "decode"
WAYS: tuple[tuple[str, Callable[[Calls], Callable[[Any], Any] | None]], ...] = (
    ("ids to str", lambda calls: calls.text),
    ("ids to bytes", lambda calls: calls.data),
)
"""The ways to decode: a name, and a function that selects the call of a contender."""


def bench_decode(
    name: str,
    text: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield the results of decoding the ids of `text`; MB/s count the UTF-8 of the text."""
    ids = subject.bare.encode(text)
    size = float(len(text.encode()))
    for what, get_call in WAYS:
        makers, absent = able(subject, peers, get_call, what)
        calls: dict[str, Callable[[Any], Any]] = {}
        for peer, make in makers.items():
            call = get_call(make())
            assert call is not None, "`able` has checked it"
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


def _check(where: str, peer: str, text: str, decoded: str | bytes) -> None:
    """Raise WrongAnswerError unless `decoded`, from `peer`, is `text` or the UTF-8 of `text`."""
    expected = text if isinstance(decoded, str) else text.encode()
    if decoded != expected:
        same_items(where, "character or byte", peer, expected, decoded, source="the text")
        raise WrongAnswerError(f"{where}: {peer} has a different {type(decoded).__name__}")
