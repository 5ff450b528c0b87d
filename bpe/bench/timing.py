"""Runs in turn, on one core where that can be had, and what comes of them."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

OURS = "pretok"
RAYON = "RAYON_NUM_THREADS"
"""The variable that says how many threads a pool of Rust's Rayon has."""
Run = Callable[[], Sequence[float]]
"""Does one round of a contender, and returns the time of each of its passes."""
Watcher = Callable[[str], object]


@dataclass(frozen=True)
class Settings:
    """How often each contender runs.

    There are `rounds` rounds, in each of which all run once; a contender that has taken `budget`
    seconds by then stops, but not before it has run `least` times. With `cpu_time`, what keeps to
    one core is timed by what the process itself used, for a machine that others use too. An answer
    other than ours ends the run if it `is_strict`, else only that peer is left out.
    """

    rounds: int = 5
    budget: float = 20.0
    least: int = 2
    cpu_time: bool = False
    is_strict: bool = True


@dataclass(frozen=True)
class Result:
    """Figures of contenders that did the same: seconds, or bytes of memory, of each run.

    `work` is how much each of them did in a run: bytes, code points or calls, as `unit` says.
    `absent` has peers that did not take part, and why; `notes` what is to be known of a peer.
    """

    group: str
    what: str
    text: str
    subject: str
    unit: str
    runs: dict[str, tuple[float, ...]]
    work: dict[str, float]
    absent: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def row(self) -> str:
        """What `what` says up to a comma."""
        return self.what.partition(", ")[0]

    def peers(self) -> list[str]:
        """Return all contenders but ours."""
        return [name for name in self.runs if name != OURS]

    def each(self, name: str) -> list[float]:
        """Return what a unit of work cost, run by run."""
        return [run / self.work[name] for run in self.runs[name]]

    def median(self, name: str) -> float:
        """Return the median of `each`."""
        return statistics.median(self.each(name))

    def ratios(self, peer: str) -> list[float]:
        """Return how many times what ours cost `peer`'s did, round by round."""
        return [
            theirs / ours for ours, theirs in zip(self.each(OURS), self.each(peer), strict=False)
        ]

    def ratio(self, peer: str) -> float:
        """Return the median of `ratios`."""
        return statistics.median(self.ratios(peer))

    def record(self) -> dict[str, Any]:
        """Return the figures for a JSON record, each run, the medians and the ratios."""
        return {
            **asdict(self),
            "median": {name: self.median(name) for name in self.runs},
            "ratio": {
                peer: {
                    "median": self.ratio(peer),
                    "least": min(self.ratios(peer)),
                    "most": max(self.ratios(peer)),
                }
                for peer in self.peers()
            },
        }

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Result:
        """Return what `record` made a JSON object of."""
        given = {name: record[name] for name in cls.__dataclass_fields__}
        given["runs"] = {name: tuple(runs) for name, runs in record["runs"].items()}
        return cls(**given)


_clocks: list[Callable[[], float]] = [time.perf_counter]
"""The clock in use, last."""


def seconds(call: Callable[..., object], *arguments: object) -> float:
    """Return how long `call(*arguments)` takes; freeing its result is no part of it."""
    clock = _clocks[-1]
    start = clock()
    result = call(*arguments)
    taken = clock() - start
    del result
    return taken


def alternate(
    contenders: Mapping[str, Run], settings: Settings, watch: Watcher, pinned: bool = True
) -> dict[str, list[tuple[float, ...]]]:
    """Run the contenders in turn and return the times of each round of each.

    Every other round goes the other way round, so that none always runs behind the same other.
    """
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in contenders}
    with steady(pinned, settings.cpu_time and pinned):
        for number in range(settings.rounds):
            order = list(contenders) if number % 2 == 0 else list(contenders)[::-1]
            for name in order:
                if number < settings.least or _spent(found[name]) < settings.budget:
                    watch(name)
                    found[name].append(tuple(contenders[name]()))
    return found


def measure(
    calls: Mapping[str, Callable[[], object]],
    settings: Settings,
    watch: Watcher,
    pinned: bool = True,
) -> dict[str, tuple[float, ...]]:
    """Run `calls` in turn and return the seconds of each run of each."""
    rounds = alternate(
        {name: partial(once, call) for name, call in calls.items()}, settings, watch, pinned
    )
    return {name: tuple(times[0] for times in found) for name, found in rounds.items()}


def once(call: Callable[[], object]) -> tuple[float]:
    """Return the seconds of one call, as a round of one pass."""
    return (seconds(call),)


def _spent(rounds: Sequence[Sequence[float]]) -> float:
    return sum(map(sum, rounds))


@contextmanager
def steady(pinned: bool = True, cpu_time: bool = False) -> Iterator[None]:
    """Keep to one core, if `pinned` and the system allows it, with no garbage collection.

    With `cpu_time`, `seconds` counts what this process used, not what went by.
    """
    with one_core() if pinned else nullcontext():
        gc.collect()
        was_on = gc.isenabled()
        gc.disable()
        _clocks.append(time.process_time if cpu_time else time.perf_counter)
        try:
            yield
        finally:
            _clocks.pop()
            if was_on:
                gc.enable()


@contextmanager
def one_core() -> Iterator[None]:
    """Keep to one core if the system allows it; pools of Rust's Rayon then start one thread."""
    cores = allowed_cores()
    if not cores:
        before = os.environ.get(RAYON)
        os.environ[RAYON] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[RAYON]
            else:
                os.environ[RAYON] = before
        return
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def allowed_cores() -> set[int]:
    """Return the cores this process may run on; empty where the system does not say."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def core_count() -> int:
    """Return on how many cores this process may run."""
    return len(allowed_cores()) or os.cpu_count() or 1
