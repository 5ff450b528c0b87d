"""Peers for the tests of `tests/bench/run.py`, and a small vocabulary.

A peer is a package that the benchmark compares with pretok. These peers give equal results, wrong
results, or errors.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import bpe
from pretok.machine.backend import BackendName
from pretok_bench.peer import Calls, Message, Peer
from pretok_bench.peers.ours import Ours
from pretok_bench.subject import Subject
from pretok_bench.timing import Settings

TEXT = "Hello world 123, it's 漢字 and\n\n  more.\n" * 20
QUICK = Settings(rounds=2)


def nothing(_: str) -> None:
    """Ignore a message about progress."""


def small_subject(folder: Path, backend: BackendName | None = None) -> Subject:
    tokenizer = bpe.train([TEXT], vocab_size=280, preset="cl100k", progress=False, backend=backend)
    return Subject("small", tokenizer, folder)


class Equal(Ours):
    """Gives the results of pretok."""

    name = "equal"


class Liar(Peer):
    """Returns wrong results: those of pretok, changed at the end."""

    name = "liar"
    module = "pretok"

    def calls(self, subject: Subject) -> Calls:
        true = Ours().calls(subject)
        assert true.array is not None
        assert true.arrays is not None
        assert true.lists is not None
        array, arrays, lists = true.array, true.arrays, true.lists

        def false_lists(texts: list[str], threads: int) -> list[list[int]]:
            found = lists(texts, threads)
            return [*found[:-1], [*found[-1][:-1], 7]]

        def false_arrays(texts: list[str], threads: int) -> Any:
            ids, offsets = arrays(texts, threads)
            return np.append(ids[:-1], np.uint32(7)), offsets

        return replace(
            true,
            array=lambda data: np.append(array(data)[:-1], np.uint32(7)),
            arrays=false_arrays,
            lists=false_lists,
            text=lambda ids: subject.tokenizer.decode(ids)[:-1] + "?",
            data=lambda ids: subject.tokenizer.decode_bytes(ids)[:-1],
        )

    def message(self, subject: Subject) -> Message:
        return Message(lambda text: [*subject.tokenizer.encode(text), 7])

    def loader(self, path: str, subject: Subject) -> Any:
        return lambda: lambda text: [*subject.tokenizer.encode(text)[:-1], 7]


class Failing(Peer):
    """Raises RuntimeError in every call."""

    name = "failing"
    module = "pretok"

    def calls(self, subject: Subject) -> Calls:
        def fail(*_: object) -> Any:
            raise RuntimeError("out of order\nsecond line")

        return Calls(array=fail, arrays=fail, lists=fail, text=fail, data=fail)

    def message(self, subject: Subject) -> Message:
        raise RuntimeError("out of order")
