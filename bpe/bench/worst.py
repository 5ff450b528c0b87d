"""The worst inputs: a million times the same character, which may be one long pre-token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from bpe.bench.child import ChildError, files_of, run_child
from bpe.bench.peer import CannotError, Peer
from bpe.bench.subject import Subject
from bpe.bench.timing import OURS, Result, Settings, Watcher, alternate, seconds

GROUP = "worst"
ENGLISH = "our English"
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
"""What is repeated, by a name that is ASCII."""


def bench_worst(
    english: str,
    subject: Subject,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
    times: int,
    limit: float,
) -> Iterator[Result]:
    """Yield what a byte of `times` each of CHARACTERS costs, against one of English, both ours.

    A tokenizer that has seen the English text, and encodes it again, is then given the other one
    for the first time. Peers, some of which need quadratic time or fail, encode it twice in a
    process of their own, which has `limit` seconds.
    """
    english_data = english.encode()
    for name, character in CHARACTERS.items():
        data = (character * times).encode()
        round = partial(_round, subject, english_data, data)
        rounds = alternate({OURS: round}, settings, watch)[OURS]
        runs = {
            OURS: tuple(each[1] for each in rounds),
            ENGLISH: tuple(each[0] for each in rounds),
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
    encode = subject.fresh().encode_array
    encode(english)
    return seconds(encode, english), seconds(encode, data)
