"""Run contenders in turn, on one core if the system allows it, and collect their times."""

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
"""The environment variable for the number of threads of Rust's Rayon."""
Run = Callable[[], Sequence[float]]
"""Runs one round of a contender, and returns the time of each of its passes."""
Watcher = Callable[[str], object]
"""Takes the name of a contender before each of its runs, to show the progress."""


@dataclass(frozen=True)
class Settings:
    """The number of runs, and the rules for contenders.

    In each of `rounds` rounds, every contender runs once. A contender runs at least `least` times;
    after that, it stops when its runs have taken `budget` seconds. If `cpu_time`, measurements on
    one core count the CPU time of the process, which other programs on a busy machine change less
    than the elapsed time. If the result of a peer differs from the result of pretok, the program
    ends with an error if `is_strict`; else the peer is left out.
    """

    rounds: int = 5
    budget: float = 20.0
    least: int = 2
    cpu_time: bool = False
    is_strict: bool = True


@dataclass(frozen=True)
class Result:
    """The result of one measurement, named by `group`, `what`, `text` and `subject` (vocabulary).

    `runs` maps each contender to the seconds of each run, or to bytes of memory if `unit` is
    "peak". `work` maps each contender to the amount of work in one run: a number of bytes, code
    points or calls, as `unit` says. `absent` maps each peer that did not take part to the reason.
    `notes` maps peers to remarks.
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
        """The part of `what` before the first comma; after it may come a state, such as "cold"."""
        return self.what.partition(", ")[0]

    def peers(self) -> list[str]:
        """Return all contenders except pretok."""
        return [name for name in self.runs if name != OURS]

    def each(self, name: str) -> list[float]:
        """Return the cost of a unit of work of the contender `name` in each run."""
        return [run / self.work[name] for run in self.runs[name]]

    def median(self, name: str) -> float:
        """Return the median of `each`."""
        return statistics.median(self.each(name))

    def ratios(self, peer: str) -> list[float]:
        """Return the cost of `peer` divided by the cost of pretok, for each round that both ran."""
        return [
            theirs / ours for ours, theirs in zip(self.each(OURS), self.each(peer), strict=False)
        ]

    def ratio(self, peer: str) -> float:
        """Return the median of `ratios`."""
        return statistics.median(self.ratios(peer))

    def record(self) -> dict[str, Any]:
        """Return the result as a JSON object, with medians and ratios."""
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
        """Return the Result of a JSON object that the method `record` returned."""
        fields = {name: record[name] for name in cls.__dataclass_fields__}
        fields["runs"] = {name: tuple(runs) for name, runs in record["runs"].items()}
        return cls(**fields)


_clocks: list[Callable[[], float]] = [time.perf_counter]
"""A stack of clocks; the last one is in use."""


def seconds(call: Callable[..., object], *arguments: object) -> float:
    """Return the duration of `call(*arguments)`, without the time to free its result."""
    clock = _clocks[-1]
    start = clock()
    result = call(*arguments)
    duration = clock() - start
    del result
    return duration


def alternate(
    contenders: Mapping[str, Run], settings: Settings, watch: Watcher, pinned: bool = True
) -> dict[str, list[tuple[float, ...]]]:
    """Run the contenders in turn; return the times of each round, by contender.

    Every second round runs in reverse order, so that no contender always runs after the same
    contender. If `pinned`, run on one core if the system allows it.
    """
    rounds: dict[str, list[tuple[float, ...]]] = {name: [] for name in contenders}
    with steady(pinned, settings.cpu_time and pinned):
        for number in range(settings.rounds):
            order = list(contenders) if number % 2 == 0 else list(contenders)[::-1]
            for name in order:
                if number < settings.least or _total(rounds[name]) < settings.budget:
                    watch(name)
                    rounds[name].append(tuple(contenders[name]()))
    return rounds


def measure(
    calls: Mapping[str, Callable[[], object]],
    settings: Settings,
    watch: Watcher,
    pinned: bool = True,
) -> dict[str, tuple[float, ...]]:
    """Run `calls` in turn, with `pinned` as in alternate; return the seconds of each run."""
    rounds = alternate(
        {name: partial(once, call) for name, call in calls.items()}, settings, watch, pinned
    )
    return {name: tuple(times[0] for times in each) for name, each in rounds.items()}


def once(call: Callable[[], object]) -> tuple[float]:
    """Return the seconds of one call, in the form of a round with one pass."""
    return (seconds(call),)


def _total(rounds: Sequence[Sequence[float]]) -> float:
    """Return the sum of the times of all passes of all rounds."""
    return sum(map(sum, rounds))


@contextmanager
def steady(pinned: bool = True, cpu_time: bool = False) -> Iterator[None]:
    """Turn garbage collection off in this context.

    If `pinned`, run on one core if the system allows it. If `cpu_time`, the function `seconds`
    counts the CPU time of this process.
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
    """Run on one core if the system allows it; else limit pools of Rust's Rayon to one thread."""
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
    """Return the cores that this process may use; empty if the system does not tell."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def core_count() -> int:
    """Return the number of cores that this process may use."""
    return len(allowed_cores()) or os.cpu_count() or 1
