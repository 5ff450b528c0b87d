"""Measure encoding one short message, call after call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, repeat
from typing import Any

from pretok_bench.answers import same_items
from pretok_bench.peer import CannotError, Message, Peer, guarded
from pretok_bench.peers.ours import Ours
from pretok_bench.subject import Subject
from pretok_bench.text import new_messages
from pretok_bench.timing import (
    OURS,
    Result,
    Settings,
    Watcher,
    alternate,
    measure,
    once,
    seconds,
)

GROUP = "latency"
MESSAGE = "Hello, how are you doing today, my friend?"
RUN_SECONDS = 0.05
"""The approximate duration of one run."""
NEW = 2000
"""The number of new messages in one run."""


def bench_latency(
    subject: Subject, peers: Sequence[Peer], settings: Settings, watch: Watcher
) -> Iterator[Result]:
    """Yield results of encoding a message: with any call, to an array, and of new messages.

    In each result, a contender uses its fastest such call, with its default for special tokens.
    Each tokenizer encodes messages before the measurement, so its caches are warm. The first two
    results encode MESSAGE again and again. Some peers keep the ids of whole texts and only look
    them up, so the third result encodes messages that the tokenizer never got before.
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
    yield _measure("one message", direct, subject, settings, watch, absent)
    yield _measure("one message to array", arrays, subject, settings, watch, {})
    yield _new(direct, subject, settings, watch)


def _new(
    calls: dict[str, Callable[[str], Any]], subject: Subject, settings: Settings, watch: Watcher
) -> Result:
    """Return the result of `calls` for messages of common words that are new to each tokenizer."""
    source = new_messages(len(MESSAGE))
    others = list(islice(source, NEW))
    ours = [list(calls[OURS](message)) for message in others]
    absent: dict[str, str] = {}
    for name in [*calls]:
        try:
            with guarded(name, settings.is_strict):
                for message, ids in zip(others, ours, strict=True):
                    same_items(f"{subject.name}, {message!a}", "id", name, ids,
                               list(calls[name](message)))  # fmt: skip
        except CannotError as error:
            absent[name] = str(error)
    batches = [list(islice(source, NEW)) for _ in range(settings.rounds)]
    runs = {
        name: partial(_run, call, iter(batches))
        for name, call in calls.items()
        if name not in absent
    }
    rounds = alternate(runs, settings, watch)
    times = {name: tuple(each[0] for each in found) for name, found in rounds.items()}
    work = dict.fromkeys(times, float(NEW))
    return Result(GROUP, "new messages", f"{len(MESSAGE)} chars", subject.name, "call", times, work,
                  absent)  # fmt: skip


def _run(call: Callable[[str], Any], batches: Iterator[list[str]]) -> tuple[float]:
    """Return the seconds to encode the messages of the next batch."""
    return once(partial(_encode_each, call, next(batches)))


def _encode_each(call: Callable[[str], Any], messages: list[str]) -> None:
    for message in messages:
        call(message)


def _measure(
    what: str,
    calls: dict[str, Callable[[str], Any]],
    subject: Subject,
    settings: Settings,
    watch: Watcher,
    absent: dict[str, str],
) -> Result:
    """Return the result of `calls`; each run repeats a call for about RUN_SECONDS."""
    counts = {name: max(1, int(RUN_SECONDS / _call_time(call))) for name, call in calls.items()}
    repeated = {name: partial(_repeat, call, counts[name]) for name, call in calls.items()}
    runs = measure(repeated, settings, watch)
    work = {name: float(counts[name]) for name in runs}
    return Result(GROUP, what, f"{len(MESSAGE)} chars", subject.name, "call", runs, work, absent)


def _call_time(call: Callable[[str], Any]) -> float:
    """Return the approximate seconds of one call; never 0."""
    return min(seconds(_repeat, call, 100) for _ in range(5)) / 100 or 1e-9


def _repeat(call: Callable[[str], Any], count: int) -> None:
    for _ in repeat(None, count):
        call(MESSAGE)
