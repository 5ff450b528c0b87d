"""Encoding: bytes to an array, lists of documents to arrays and to lists, on one core and all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from bpe.bench.answers import Arrays, flattened, same_arrays
from bpe.bench.inputs import documents
from bpe.bench.peer import ALL_THREADS, Calls, CannotError, Peer, guarded
from bpe.bench.peers import Ours, able
from bpe.bench.subject import Subject
from bpe.bench.timing import (
    OURS,
    Result,
    Settings,
    Watcher,
    alternate,
    core_count,
    measure,
    seconds,
)

GROUP = "encode"
ONE_THREAD = "one thread"


class _Way(NamedTuple):
    """One of the ways to encode: its name, the call, and what answers are compared as."""

    what: str
    call: Callable[[Calls], Callable[..., Any] | None]
    as_arrays: Callable[[Any], Arrays]


BYTES = _Way("bytes to array", lambda calls: calls.array, lambda ids: flattened([ids.tolist()]))
ARRAYS = _Way("list to arrays", lambda calls: calls.arrays, lambda found: (found[0], found[1]))
LISTS = _Way("list to lists", lambda calls: calls.lists, flattened)


def bench_encode(
    name: str,
    text: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield the figures of each way to encode `text`, cold and warm, and those of many threads.

    Cold is the first pass of a tokenizer object that was just made, warm its next one, over the
    same text; both with one thread on one core. Bytes are encoded whole, lists are the documents
    of the text. With more cores there follow, warm, two threads of ours against one, and as many
    threads as there are cores.
    """
    texts = documents(text)
    size = len(text.encode())
    lists: dict[str, Callable[[], Calls]] = {}
    for way in (BYTES, ARRAYS, LISTS):
        given: tuple[Any, ...] = (text.encode(),) if way is BYTES else (texts, 1)
        makers, absent = able(subject, peers, way.call, way.what)
        compare(f"{name}, {subject.name}", way, makers, given, absent)
        rounds = alternate(
            {peer: partial(_cold_and_warm, way, make, given) for peer, make in makers.items()},
            settings,
            watch,
        )
        for place, state in enumerate(("cold", "warm")):
            runs = {
                peer: tuple(times[place] for times in found)
                for peer, found in rounds.items()
                if state == "warm" or makers[peer]().has_cold_start
            }
            work = dict.fromkeys(runs, float(size))
            what = f"{way.what}, {state}"
            yield Result(GROUP, what, name, subject.name, "B", runs, work, absent)
        lists = makers
    if core_count() > 1:
        yield from _threads(name, texts, size, subject, lists, settings, watch)


def compare(
    where: str,
    way: _Way,
    makers: dict[str, Callable[[], Calls]],
    given: tuple[Any, ...],
    absent: dict[str, str],
) -> None:
    """Raise WrongAnswerError if the answer of any contender is not ours.

    A peer that fails is taken out of `makers`, and put into `absent`.
    """
    ours = _answer(way, makers[OURS], given)
    for peer, make in list(makers.items()):
        if peer != OURS:
            try:
                with guarded(peer):
                    same_arrays(where, peer, ours, _answer(way, make, given))
            except CannotError as error:
                absent[peer] = str(error)
                del makers[peer]


def _answer(way: _Way, make: Callable[[], Calls], given: tuple[Any, ...]) -> Arrays:
    calls = make()
    found = _call(way, calls)(*given)
    if way is ARRAYS and calls.as_arrays is not None:
        return calls.as_arrays(found)
    return way.as_arrays(found)


def _cold_and_warm(
    way: _Way, make: Callable[[], Calls], given: tuple[Any, ...]
) -> tuple[float, float]:
    call = _call(way, make())
    return seconds(call, *given), seconds(call, *given)


def _call(way: _Way, calls: Calls) -> Callable[..., Any]:
    call = way.call(calls)
    assert call is not None  # of those that are able
    return call


def _threads(
    name: str,
    texts: list[str],
    size: int,
    subject: Subject,
    makers: dict[str, Callable[[], Calls]],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    ours = Ours().calls(subject)
    arrays, lists = _call(ARRAYS, ours), _call(LISTS, ours)
    every = {
        peer: partial(_call(LISTS, make()), texts, ALL_THREADS) for peer, make in makers.items()
    }
    two = {OURS: partial(arrays, texts, 2), ONE_THREAD: partial(arrays, texts, 1)}
    two_lists = {OURS: partial(lists, texts, 2), ONE_THREAD: partial(lists, texts, 1)}
    for what, calls in (
        ("list to arrays, two threads", two),
        ("list to lists, two threads", two_lists),
        ("list to lists, all cores", every),
    ):
        for call in calls.values():
            call()
        runs = measure(calls, settings, watch, pinned=False)
        work = dict.fromkeys(runs, float(size))
        yield Result(GROUP, what, name, subject.name, "B", runs, work)
