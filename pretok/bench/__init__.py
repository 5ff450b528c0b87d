"""Measure splitting against the `regex` package, paired in one run, answers compared first."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

from pretok.errors import PretokError
from pretok.fuzz.engines import RegexEngine
from pretok.preset import Preset
from pretok.pretokenizer import BackendName, PreTokenizer

METHODS = ("offsets", "split", "count")


class WrongAnswerError(PretokError, RuntimeError):
    """Ours and the peer's pre-tokens differ, so that there is nothing to time."""


@dataclass(frozen=True)
class Measurement:
    """Seconds of each run of one method and of the peer, taken in turn on the same text."""

    text: str
    preset: str
    method: str
    characters: int
    pre_tokens: int
    seconds: tuple[float, ...]
    peer_seconds: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast as the peer, run by run."""
        return [peer / ours for ours, peer in zip(self.seconds, self.peer_seconds, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of `ratios`."""
        return statistics.median(self.ratios)

    def rate(self, seconds: tuple[float, ...]) -> float:
        """Return millions of code points a second, at the median of `seconds`."""
        return self.characters / statistics.median(seconds) / 1e6

    def record(self) -> dict[str, Any]:
        """Return the measurement for a JSON record."""
        return {**asdict(self), "ratio": self.ratio}


def bench_split(
    name: str, text: str, preset: Preset, backend: BackendName | None, runs: int
) -> list[Measurement]:
    """Time offsets, split and count of `text` against `regex.findall` of the preset's pattern.

    Both follow the Unicode version that `regex` implements. Raises WrongAnswerError if their
    pre-tokens differ, EngineError if `regex` is missing or reads the pattern otherwise.
    """
    engine = RegexEngine()
    refusal = engine.refuses(preset)
    if refusal:
        raise WrongAnswerError(f"preset {preset.name!r} cannot be timed against regex: {refusal}")
    tokenizer = PreTokenizer(preset, engine.unicode(preset), backend)
    import regex

    findall = regex.compile(preset.pattern).findall
    pre_tokens = _check(name, text, tokenizer, findall)
    seconds: dict[str, list[float]] = {method: [] for method in METHODS}
    peer_seconds = []
    with _steady():
        for _ in range(runs):
            peer_seconds.append(_time(findall, text))
            for method in METHODS:
                seconds[method].append(_time(getattr(tokenizer, method), text))
    return [
        Measurement(
            name,
            preset.name,
            method,
            len(text),
            pre_tokens,
            tuple(seconds[method]),
            tuple(peer_seconds),
        )
        for method in METHODS
    ]


def _check(
    name: str, text: str, tokenizer: PreTokenizer, findall: Callable[[str], list[str]]
) -> int:
    ours, theirs = tokenizer.split(text), findall(text)
    if ours != theirs:
        first = next(
            (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
            min(len(ours), len(theirs)),
        )
        raise WrongAnswerError(
            f"{name}, preset {tokenizer.preset.name!r}: pre-token {first} is "
            f"{ours[first : first + 1]!a}, regex has {theirs[first : first + 1]!a}; "
            "run `pretok fuzz` to find the smallest text"
        )
    offsets = tokenizer.offsets(text)
    if tokenizer.count(text) != len(ours) or len(offsets) != len(ours) + 1:
        raise WrongAnswerError(f"{name}: split, offsets and count disagree on how many there are")
    return len(ours)


def _time(call: Callable[[str], object], text: str) -> float:
    start = time.perf_counter()
    result = call(text)
    seconds = time.perf_counter() - start
    del result  # freeing it is not part of the work
    return seconds


@contextmanager
def _steady() -> Iterator[None]:
    """Keep to one core where the system allows it, with no garbage collection meanwhile."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if cores:
        os.sched_setaffinity(0, {min(cores)})
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if cores:
            os.sched_setaffinity(0, cores)


def surroundings(backend: str) -> dict[str, Any]:
    """Return the date, the machine and the versions that a measurement depends on."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "pretok": version("pretok"),
        "regex": version("regex"),
        "backend": backend,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
