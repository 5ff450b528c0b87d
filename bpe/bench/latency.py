"""One short message, call after call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from bpe.bench.answers import same_items
from bpe.bench.peer import CannotError, Message, Peer, guarded
from bpe.bench.peers.ours import Ours
from bpe.bench.subject import Subject
from bpe.bench.timing import Result, Settings, Watcher, measure, seconds

GROUP = "latency"
MESSAGE = "Hello, how are you doing today, my friend?"
LASTS = 0.05
"""Seconds that the calls of one run take, at about the speed of the first ones."""


def bench_latency(
    subject: Subject, peers: Sequence[Peer], settings: Settings, watch: Watcher
) -> Iterator[Result]:
    """Yield the figures of encoding MESSAGE: as each does it fastest, and to an array.

    Special tokens are heeded, as the calls do by default. The message has been seen before.
    """
    messages: dict[str, Message] = {}
    absent: dict[str, str] = {}
    ours: list[int] = []
    for peer in (Ours(), *peers):
        try:
            with guarded(peer.name, settings.is_strict):
                message = peer.message(subject)
                ours = ours or list(message.encode(MESSAGE))
                for call in filter(None, (message.encode, message.encode_array)):
                    where = f"{subject.name}, {MESSAGE!a}"
                    same_items(where, "id", peer.name, ours, list(call(MESSAGE)))
            messages[peer.name] = message
        except CannotError as error:
            absent[peer.name] = str(error)
    direct = {name: message.encode for name, message in messages.items()}
    arrays = {
        name: message.encode_array
        for name, message in messages.items()
        if message.encode_array is not None
    }
    yield _measured("one message", direct, subject, settings, watch, absent)
    yield _measured("one message to array", arrays, subject, settings, watch, {})


def _measured(
    what: str,
    calls: dict[str, Callable[[str], Any]],
    subject: Subject,
    settings: Settings,
    watch: Watcher,
    absent: dict[str, str],
) -> Result:
    numbers = {name: max(1, int(LASTS / _cost(call))) for name, call in calls.items()}
    todo = {name: partial(_many, call, numbers[name]) for name, call in calls.items()}
    runs = measure(todo, settings, watch)
    work = {name: float(numbers[name]) for name in runs}
    return Result(GROUP, what, f"{len(MESSAGE)} chars", subject.name, "call", runs, work, absent)


def _cost(call: Callable[[str], Any]) -> float:
    return min(seconds(_many, call, 100) for _ in range(5)) / 100 or 1e-9


def _many(call: Callable[[str], Any], number: int) -> None:
    for _ in repeat(None, number):
        call(MESSAGE)
