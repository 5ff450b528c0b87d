"""Measure the worst inputs: repeated characters, which may make one long pre-token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pretok_bench.child import ChildError, files_of, run_child
from pretok_bench.peer import CannotError, Peer
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS, Result, Settings, Watcher, alternate, seconds

GROUP = "worst"
ENGLISH = "our English"
"""The name of the contender that has the time of pretok on English text."""
CHARACTERS = {
    "a": "a",
    "space": " ",
    "newline": "\n",
    "U+7684": "\u7684",
    "^": "^",
    "U+1F600": "\U0001f600",
    "digit": "7",
    "U+0301": "\u0301",
    "ab": "ab",
}
"""The strings to repeat: a name in ASCII, and one or two characters."""


def bench_worst(
    english: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
    times: int,
    limit: float,
) -> Iterator[Result]:
    """Yield the time per byte of each of CHARACTERS repeated `times` times.

    Each result also has the time of pretok per byte of `english`. In each run of pretok, a new
    tokenizer encodes `english` twice, and then the repeated character once; the second and the
    third call are timed. Some peers take quadratic time or fail, so each peer runs in its own
    process, for at most `limit` seconds.
    """
    english_data = english.encode()
    for name, character in CHARACTERS.items():
        data = (character * times).encode()
        run_round = partial(_round, subject, english_data, data)
        rounds = alternate({OURS: run_round}, settings, watch)[OURS]
        runs = {
            OURS: tuple(character_time for _, character_time in rounds),
            ENGLISH: tuple(english_time for english_time, _ in rounds),
        }
        work = {OURS: float(len(data)), ENGLISH: float(len(english_data))}
        absent: dict[str, str] = {}
        for peer in peers:
            job = {
                "job": "repeat",
                "peer": peer.name,
                **files_of(subject),
                "text": character,
                "times": times,
                "cpu_time": settings.cpu_time,
            }
            try:
                peer.calls(subject)
                watch(peer.name)
                runs[peer.name] = tuple(run_child(job, limit)["seconds"])
                work[peer.name] = float(len(data))
            except (CannotError, ChildError) as error:
                absent[peer.name] = str(error)
        yield Result(GROUP, f"{times:,} of it", name, subject.name, "byte", runs, work, absent)


def _round(subject: Subject, english: bytes, data: bytes) -> tuple[float, float]:
    """Return the seconds of a new tokenizer for `english`, warm, and then for `data`."""
    encode = subject.fresh().encode_array
    encode(english)
    return seconds(encode, english), seconds(encode, data)
