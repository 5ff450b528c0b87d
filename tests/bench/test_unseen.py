"""Documents and messages that a tokenizer never got before are new, and equal for all peers."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bench_peers import QUICK, TEXT, Equal, nothing, small_subject
from pretok_bench import latency
from pretok_bench.encode import ARRAYS
from pretok_bench.inputs import documents, unseen_documents
from pretok_bench.latency import bench_latency
from pretok_bench.load import WORD
from pretok_bench.matrix import UNSEEN, bench_passes
from pretok_bench.peer import OTHER_ANSWER, Message
from pretok_bench.subject import Subject
from pretok_bench.text import new_messages
from pretok_bench.timing import OURS, Settings


def test_unseen_documents_are_new_to_each_tokenizer(tmp_path: Path) -> None:
    """Each timed document is encoded once by its tokenizer, after all other documents."""
    batches: list[list[list[str]]] = []

    class Recording(Equal):
        def calls(self, subject: Subject) -> Any:
            calls = super().calls(subject)
            arrays = calls.arrays
            assert arrays is not None
            mine: list[list[str]] = []
            batches.append(mine)

            def recording(texts: list[str], threads: int) -> Any:
                mine.append(texts)
                return arrays(texts, threads)

            return replace(calls, arrays=recording)

    class Warm(Equal):
        name = "warm"
        has_cold_start = False

    different = "".join(f"{number} {TEXT[:200]}\n" for number in range(100))
    text = different + different[: len(different) // 3]  # some documents may come again
    subject = small_subject(tmp_path)
    peers = [Recording(), Warm()]
    *_, unseen = bench_passes("t", text, subject, [ARRAYS], peers, QUICK, nothing)
    assert unseen.what == f"list to arrays, {UNSEEN}"
    assert list(unseen.runs) == [OURS, "equal"]  # the tokenizer of `warm` knows the documents
    assert len(unseen.runs[OURS]) == QUICK.rounds
    assert len(batches) == 1 + 2 * QUICK.rounds
    for word, first, second, timed in batches[-QUICK.rounds :]:
        assert word == [WORD]
        assert first == second == documents(text)[::2]
        assert len(timed) == len(set(timed)) > 2
        assert set(timed).isdisjoint(first)
        assert unseen.work == dict.fromkeys(unseen.runs, len("".join(timed).encode()))


def test_unseen_documents_are_never_repeated() -> None:
    assert unseen_documents(["a", "b", "c", "a", "d", "b", "e", "f"]) == (
        ["a", "c", "d", "e"],
        ["b", "f"],
    )
    assert unseen_documents(["a"]) == (["a"], [])
    messages = list(islice(new_messages(42), 20_000))
    assert len(set(messages)) == len(messages)
    assert messages[:9] == list(islice(new_messages(42), 9))


def test_new_messages_are_new_to_each_tokenizer_and_equal_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = small_subject(tmp_path)
    monkeypatch.setattr(latency, "NEW", 50)
    seen: dict[str, list[str]] = {"first": [], "second": []}

    class Recording(Equal):
        def __init__(self, name: str) -> None:
            self.name = name  # type: ignore[misc]

        def message(self, subject: Subject) -> Message:
            encode = super().message(subject).encode

            def recording(text: str) -> Any:
                seen[self.name].append(text)
                return encode(text)

            return Message(recording)

    class Forgetful(Equal):
        """Returns wrong ids for all messages but one."""

        name = "forgetful"

        def message(self, subject: Subject) -> Message:
            return Message(lambda text: subject.tokenizer.encode(latency.MESSAGE))

    peers = [*map(Recording, seen), Forgetful()]
    rounds = Settings(rounds=3, is_strict=False)
    *_, new = bench_latency(subject, peers, rounds, nothing)
    assert list(new.runs) == [OURS, *seen]
    assert set(new.work.values()) == {50}
    assert new.absent["forgetful"].startswith(f"{OTHER_ANSWER}: small, ")
    messages = [text for text in seen["first"] if text != latency.MESSAGE]
    assert len(messages) == len(set(messages)) == 50 * (1 + rounds.rounds)
    assert {len(text) for text in messages} == {len(latency.MESSAGE)}
    assert messages == [text for text in seen["second"] if text != latency.MESSAGE]
