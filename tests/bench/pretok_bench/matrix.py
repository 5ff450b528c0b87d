"""Measure the matrix: one cell for each vocabulary, text and shape, against its best peer.

The best peer of a cell is the fastest other package that gives the same results as pretok.

A shape is a kind of call. A shape of WAYS encodes the documents of a text, in each of STATES, and
UNSEEN. A shape of OF_SUBJECT needs no text: it encodes messages, or loads a file.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pretok_bench.encode import ARRAYS, COUNTS, LISTS, Way, contenders, new_pass, passes
from pretok_bench.inputs import documents, unseen_documents
from pretok_bench.latency import bench_latency
from pretok_bench.load import WORD, bench_load
from pretok_bench.peer import OTHER_ANSWER, Peer
from pretok_bench.peers import PEERS
from pretok_bench.peers.training import ForTraining
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS, Result, Settings, Watcher, alternate

GROUP = "matrix"
PASSES = 5
"""The number of passes of each new tokenizer over a text."""
STATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "cold": lambda times: times[0],
    "second pass": lambda times: times[1],
    "warm": lambda times: statistics.median(times[2:]),
}
"""Maps a state to a function, which takes the times of all passes and returns the state's time."""
UNSEEN = "unseen"
"""The state in which a tokenizer is warm from other documents, and each document is new to it.

Some peers keep the ids of whole texts. When a document comes again, they look up its ids. The warm
state shows this, and this state shows how fast they encode.
"""
WAYS = {"arrays": ARRAYS, "lists": LISTS, "counts": COUNTS}
OF_SUBJECT: dict[str, Callable[..., Iterator[Result]]] = {
    "message": bench_latency,
    "load": bench_load,
}
"""The function that measures each shape that needs a vocabulary but no text."""
SHAPES = (*WAYS, *OF_SUBJECT)
COLUMNS: Mapping[str, tuple[str, str]] = {
    **{
        f"{way.what}, {state}": (shape, state.removesuffix(" pass"))
        for shape, way in WAYS.items()
        for state in (*STATES, UNSEEN)
    },
    "one message": ("message", "best"),
    "one message to array": ("message", "array"),
    "new messages": ("message", UNSEEN),
    "load tiktoken": ("load", ".tiktoken"),
    "load json": ("load", ".json"),
    "load model": ("load", ".model"),
}
"""(shape, subheading) of each column of the matrix, by the `what` of results, in order."""
MATRIX_PEERS = tuple(name for name, peer in PEERS.items() if not isinstance(peer, ForTraining))
"""The names of the peers that encode."""


class Cell(NamedTuple):
    """A cell of the matrix: its best peer, and the time of this peer divided by pretok's time.

    If no peer takes part, `peer` is "" and `ratio` is None. `what` is a key of COLUMNS. For a shape
    of OF_SUBJECT, `text` is "".
    """

    subject: str
    text: str
    what: str
    peer: str
    ratio: float | None
    result: Result

    @property
    def is_lost(self) -> bool:
        """True if the best peer is faster than pretok."""
        return self.ratio is not None and self.ratio < 1


def bench_passes(
    name: str,
    text: str,
    subject: Subject,
    ways: Iterable[Way],
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield a result for each of `ways` to encode the documents of `text`, and each state.

    The states are STATES and UNSEEN. A text of one document has no result for UNSEEN.
    """
    texts = documents(text)
    size = float(len(text.encode()))
    warm_only = {peer.name for peer in peers if not peer.has_cold_start}
    for way in ways:
        where = f"{name}, {subject.name}"
        makers, absent = contenders(where, way, subject, peers, (texts, 1), settings)
        # Each tokenizer encodes WORD before the passes. The time of tables that the first call
        # builds counts as loading (load.py).
        calls = {
            peer: partial(passes, way, make, (texts, 1), PASSES, warm_up=([WORD], 1))
            for peer, make in makers.items()
        }
        rounds = alternate(calls, settings, watch)
        for state, pick in STATES.items():
            runs = {
                peer: tuple(map(pick, times))
                for peer, times in rounds.items()
                if state != "cold" or peer not in warm_only
            }
            work = dict.fromkeys(runs, size)
            what = f"{way.what}, {state}"
            yield Result(GROUP, what, name, subject.name, "B", runs, work, absent)
        seen, unseen = unseen_documents(texts)
        if unseen:
            calls = {
                peer: partial(new_pass, way, make, [([WORD], 1), (seen, 1), (seen, 1)], (unseen, 1))
                for peer, make in makers.items()
                if peer not in warm_only
            }
            rounds = alternate(calls, settings, watch)
            runs = {peer: tuple(times[0] for times in found) for peer, found in rounds.items()}
            work = dict.fromkeys(runs, float(sum(len(each.encode()) for each in unseen)))
            what = f"{way.what}, {UNSEEN}"
            yield Result(GROUP, what, name, subject.name, "B", runs, work, absent)


def cells(results: Iterable[Result]) -> list[Cell]:
    """Return the cell of each result whose `what` is in COLUMNS."""
    return [cell_of(result) for result in results if result.what in COLUMNS]


def cell_of(result: Result) -> Cell:
    """Return the cell of one result."""
    peer = min(result.peers(), key=result.ratio, default="")
    text = result.text if result.group == GROUP else ""
    ratio = result.ratio(peer) if peer else None
    return Cell(result.subject, text, result.what, peer, ratio, result)


def place(cell: Cell) -> str:
    """Return the vocabulary, the text and the shape of `cell`."""
    shape = " ".join(COLUMNS[cell.what])
    return ", ".join(filter(None, (cell.subject, cell.text, shape)))


def means(all_cells: Iterable[Cell]) -> dict[str, float]:
    """Return the geometric mean of the ratios of each shape and state.

    A shape of OF_SUBJECT has one mean, and one for new messages.
    """
    logarithms: dict[str, list[float]] = {}
    for cell in all_cells:
        if cell.ratio is not None:
            shape, state = COLUMNS[cell.what]
            heading = f"{shape} {state}" if shape in WAYS or state == UNSEEN else shape
            logarithms.setdefault(heading, []).append(math.log(cell.ratio))
    return {heading: math.exp(statistics.fmean(logs)) for heading, logs in logarithms.items()}


class Part(NamedTuple):
    """The texts that one peer encoded with one vocabulary, and why results are missing.

    The peer has results for `texts`. It has none for the texts `other_answers`, because its ids
    differ from pretok's ids. `reasons` are all other reasons for missing results.
    """

    texts: tuple[str, ...]
    other_answers: tuple[str, ...]
    reasons: tuple[str, ...]


def parts(results: Iterable[Result]) -> dict[str, dict[str, Part]]:
    """Return the Part of each peer, by vocabulary and then by peer.

    The name of a shape of OF_SUBJECT takes the place of the name of a text.
    """
    texts: dict[tuple[str, str], dict[str, None]] = {}
    differ: dict[tuple[str, str], dict[str, None]] = {}
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    keys: dict[tuple[str, str], None] = {}
    for cell in cells(results):
        place = cell.text or COLUMNS[cell.what][0]
        for peer in cell.result.peers():
            keys[cell.subject, peer] = None
            texts.setdefault((cell.subject, peer), {})[place] = None
        for peer, why in cell.result.absent.items():
            keys[cell.subject, peer] = None
            if why.startswith(OTHER_ANSWER):
                differ.setdefault((cell.subject, peer), {})[place] = None
            else:
                reasons.setdefault((cell.subject, peer), {})[why] = None
    by_vocabulary: dict[str, dict[str, Part]] = {}
    for key in keys:
        part = Part(*(tuple(names.get(key, ())) for names in (texts, differ, reasons)))
        by_vocabulary.setdefault(key[0], {})[key[1]] = part
    return by_vocabulary


def peers_of(results: Iterable[Result]) -> list[str]:
    """Return the names of all peers in `results`: in the order of PEERS, then unknown names."""
    names = {peer for result in results for peer in (*result.runs, *result.absent)} - {OURS}
    return [*(peer for peer in PEERS if peer in names), *sorted(names - set(PEERS))]
