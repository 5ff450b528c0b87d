"""Encoding: bytes to an array, lists of documents to arrays and to lists, on one core and all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from bpe.bench.answers import Arrays, flattened, same_arrays
from bpe.bench.inputs import documents
from bpe.bench.peer import ALL_THREADS, Calls, CannotError, Peer, guarded
from bpe.bench.peers.ours import Ours
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
    steady,
)

GROUP = "encode"
ONE_THREAD = "one thread"


class Way(NamedTuple):
    """One of the ways to encode: its name, the call, and what answers are compared as."""

    what: str
    call: Callable[[Calls], Callable[..., Any] | None]
    as_arrays: Callable[[Any], Arrays]


BYTES = Way("bytes to array", lambda calls: calls.array, lambda ids: flattened([ids.tolist()]))
ARRAYS = Way("list to arrays", lambda calls: calls.arrays, lambda found: (found[0], found[1]))
LISTS = Way("list to lists", lambda calls: calls.lists, flattened)
COUNTS = Way("list to counts", lambda calls: calls.counts, lambda counts: flattened([counts]))


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
    warm_only = {peer.name for peer in peers if not peer.has_cold_start}
    lists: dict[str, Callable[[], Calls]] = {}
    for way in (BYTES, ARRAYS, LISTS):
        given: tuple[Any, ...] = (text.encode(),) if way is BYTES else (texts, 1)
        makers, absent = contenders(f"{name}, {subject.name}", way, subject, peers, given, settings)
        rounds = alternate(
            {peer: partial(passes, way, make, given, 2) for peer, make in makers.items()},
            settings,
            watch,
        )
        for place, state in enumerate(("cold", "warm")):
            runs = {
                peer: tuple(times[place] for times in found)
                for peer, found in rounds.items()
                if state == "warm" or peer not in warm_only
            }
            work = dict.fromkeys(runs, float(size))
            what = f"{way.what}, {state}"
            yield Result(GROUP, what, name, subject.name, "B", runs, work, absent)
        lists = makers
    if core_count() > 1:
        yield from _threads(name, texts, size, subject, peers, lists, settings, watch)


def contenders(
    where: str,
    way: Way,
    subject: Subject,
    peers: Sequence[Peer],
    given: tuple[Any, ...],
    settings: Settings,
) -> tuple[dict[str, Callable[[], Calls]], dict[str, str]]:
    """Return a maker of calls for each contender with our answer, and why peers are left out.

    Ours comes first. A peer that fails is left out. A peer whose answer differs is left out too, or
    raises WrongAnswerError if the settings are strict. All of this runs on one core, so that a
    thread pool which a peer starts at its first call has one thread.
    """
    makers: dict[str, Callable[[], Calls]] = {}
    absent: dict[str, str] = {}
    ours: Arrays | None = None
    with steady():
        for peer in (Ours(), *peers):
            try:
                with guarded(peer.name, settings.is_strict):
                    answer = _answer(way, peer.calls(subject), given)
                    ours = ours or answer
                    same_arrays(where, peer.name, ours, answer)
            except CannotError as error:
                absent[peer.name] = str(error)
            else:
                makers[peer.name] = partial(peer.calls, subject)
    return makers, absent


def _answer(way: Way, calls: Calls, given: tuple[Any, ...]) -> Arrays:
    found = _call(way, calls)(*given)
    if way is ARRAYS and calls.as_arrays is not None:
        return calls.as_arrays(found)
    return way.as_arrays(found)


def passes(
    way: Way,
    make: Callable[[], Calls],
    given: tuple[Any, ...],
    count: int,
    warm_up: tuple[Any, ...] | None = None,
) -> tuple[float, ...]:
    """Return the seconds of the first `count` passes of a new tokenizer over the same texts.

    Before them it encodes `warm_up`, if that is given, untimed.
    """
    call = _call(way, make())
    if warm_up is not None:
        call(*warm_up)
    return tuple(seconds(call, *given) for _ in range(count))


def _call(way: Way, calls: Calls) -> Callable[..., Any]:
    call = way.call(calls)
    if call is None:
        raise CannotError(f"it has no call for {way.what}")
    return call


def _threads(
    name: str,
    texts: list[str],
    size: int,
    subject: Subject,
    peers: Sequence[Peer],
    makers: dict[str, Callable[[], Calls]],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    ours = Ours().calls(subject)
    fixed = {peer.name for peer in peers if not peer.sets_threads}
    arrays, lists = _call(ARRAYS, ours), _call(LISTS, ours)
    every = {
        peer: partial(_call(LISTS, make()), texts, ALL_THREADS)
        for peer, make in makers.items()
        if peer not in fixed
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
