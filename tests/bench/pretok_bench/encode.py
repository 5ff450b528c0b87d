"""Measure encoding: bytes to an array, lists of documents to arrays and to lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from bpe.encoding.python_backend import concatenate_ids
from pretok_bench.answers import Arrays, same_arrays
from pretok_bench.inputs import documents
from pretok_bench.peer import ALL_THREADS, Calls, CannotError, Peer, guarded
from pretok_bench.peers.ours import Ours
from pretok_bench.subject import Subject
from pretok_bench.timing import (
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
"""The name of pretok with one thread, where results compare it with pretok with two threads."""


class Way(NamedTuple):
    """A way to encode: its name `what`, and the call of Calls that encodes in this way.

    `call` selects this call, or returns None if a contender lacks it. `as_arrays` converts the
    result of the call to Arrays, so that the results of contenders can be compared.
    """

    what: str
    call: Callable[[Calls], Callable[..., Any] | None]
    as_arrays: Callable[[Any], Arrays]


BYTES = Way(
    "bytes to array", lambda calls: calls.array, lambda ids: concatenate_ids([ids.tolist()])
)
ARRAYS = Way("list to arrays", lambda calls: calls.arrays, lambda arrays: (arrays[0], arrays[1]))
LISTS = Way("list to lists", lambda calls: calls.lists, concatenate_ids)
# The counts of all texts are compared like the ids of one text.
COUNTS = Way("list to counts", lambda calls: calls.counts, lambda counts: concatenate_ids([counts]))


def bench_encode(
    name: str,
    text: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield the results of each way to encode `text`: cold, warm, and with several threads.

    The cold pass is the first pass of a new tokenizer object over `text`, and the warm pass is the
    second. Both passes use one thread on one core. BYTES takes the whole text; ARRAYS and LISTS
    take the documents of the text. If the process may use several cores, also yield warm passes
    with several threads: pretok with two threads against pretok with one thread, and all contenders
    whose number of threads can be set, with one thread for each core.
    """
    texts = documents(text)
    size = len(text.encode())
    warm_only = {peer.name for peer in peers if not peer.has_cold_start}
    lists: dict[str, Callable[[], Calls]] = {}
    for way in (BYTES, ARRAYS, LISTS):
        # The last argument of ARRAYS and LISTS is the number of threads.
        arguments: tuple[Any, ...] = (text.encode(),) if way is BYTES else (texts, 1)
        where = f"{name}, {subject.name}"
        makers, absent = contenders(where, way, subject, peers, arguments, settings)
        rounds = alternate(
            {peer: partial(passes, way, make, arguments, count=2) for peer, make in makers.items()},
            settings,
            watch,
        )
        for index, state in enumerate(("cold", "warm")):
            runs = {
                peer: tuple(times[index] for times in peer_rounds)
                for peer, peer_rounds in rounds.items()
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
    arguments: tuple[Any, ...],
    settings: Settings,
) -> tuple[dict[str, Callable[[], Calls]], dict[str, str]]:
    """Return (makers, absent): the contenders, and the peers that are left out.

    `makers` maps the name of each contender to a function that returns new Calls; pretok comes
    first. `absent` maps the name of each peer that is left out to the reason. Each contender
    encodes once, with `arguments` for the call of `way`. A peer that fails is left out. If the
    result of a peer differs from the result of pretok, the peer is left out, or, if
    `settings.is_strict`, WrongAnswerError is raised; `where` names the text in this error. This
    first call of each contender runs on one core. A peer that starts a thread pool for the whole
    process at its first call then has one thread in the timed passes too.
    """
    makers: dict[str, Callable[[], Calls]] = {}
    absent: dict[str, str] = {}
    ours: Arrays | None = None
    with steady():
        for peer in (Ours(), *peers):
            try:
                with guarded(peer.name, settings.is_strict):
                    answer = _answer(way, peer.calls(subject), arguments)
                    ours = ours or answer
                    same_arrays(where, peer.name, ours, answer)
            except CannotError as error:
                absent[peer.name] = str(error)
            else:
                makers[peer.name] = partial(peer.calls, subject)
    return makers, absent


def _answer(way: Way, calls: Calls, arguments: tuple[Any, ...]) -> Arrays:
    """Encode once in the way `way`; return the result as Arrays."""
    result = _call(way, calls)(*arguments)
    if way is ARRAYS and calls.as_arrays is not None:
        return calls.as_arrays(result)
    return way.as_arrays(result)


def passes(
    way: Way,
    make: Callable[[], Calls],
    arguments: tuple[Any, ...],
    count: int,
    warm_up: tuple[Any, ...] | None = None,
) -> tuple[float, ...]:
    """Return the seconds of `count` passes of a new tokenizer over the same texts.

    Each pass is one call with `arguments`. Unless `warm_up` is None, an untimed call with the
    arguments `warm_up` comes before the first pass.
    """
    call = _call(way, make())
    if warm_up is not None:
        call(*warm_up)
    return tuple(seconds(call, *arguments) for _ in range(count))


def new_pass(
    way: Way,
    make: Callable[[], Calls],
    before: Sequence[tuple[Any, ...]],
    arguments: tuple[Any, ...],
) -> tuple[float, ...]:
    """Return the seconds of one call of a new tokenizer, after untimed calls.

    `before` has the arguments of the untimed calls, `arguments` those of the timed one.
    """
    call = _call(way, make())
    for each in before:
        call(*each)
    return (seconds(call, *arguments),)


def _call(way: Way, calls: Calls) -> Callable[..., Any]:
    """Return the call of `calls` for `way`. Raises CannotError if `calls` has none."""
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
    """Yield the warm results with several threads; `makers` are the contenders of LISTS.

    `size` is the number of bytes of all `texts`.
    """
    ours = Ours().calls(subject)
    fixed_threads = {peer.name for peer in peers if not peer.sets_threads}
    arrays, lists = _call(ARRAYS, ours), _call(LISTS, ours)
    all_cores = {
        peer: partial(_call(LISTS, make()), texts, ALL_THREADS)
        for peer, make in makers.items()
        if peer not in fixed_threads
    }
    two = {OURS: partial(arrays, texts, 2), ONE_THREAD: partial(arrays, texts, 1)}
    two_lists = {OURS: partial(lists, texts, 2), ONE_THREAD: partial(lists, texts, 1)}
    for what, calls in (
        ("list to arrays, two threads", two),
        ("list to lists, two threads", two_lists),
        ("list to lists, all cores", all_cores),
    ):
        for call in calls.values():
            call()
        runs = measure(calls, settings, watch, pinned=False)
        work = dict.fromkeys(runs, float(size))
        yield Result(GROUP, what, name, subject.name, "B", runs, work)
