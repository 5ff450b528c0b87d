"""Test each group of `tests/bench/run.py`: it refuses wrong results, and names failing peers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench_peers import QUICK, TEXT, Failing, Liar, nothing, small_subject
from pretok.machine.backend import BackendName
from pretok.registry import find
from pretok_bench import child, train
from pretok_bench.answers import WrongAnswerError
from pretok_bench.child import ChildError, files_of, run_child
from pretok_bench.decode import bench_decode
from pretok_bench.encode import ONE_THREAD, bench_encode
from pretok_bench.latency import bench_latency
from pretok_bench.load import bench_load
from pretok_bench.memory import bench_memory
from pretok_bench.peer import CannotError, guarded, quiet
from pretok_bench.peers import PEERS, installed
from pretok_bench.peers.ours import Ours
from pretok_bench.subject import Subject
from pretok_bench.text import generated_texts
from pretok_bench.timing import OURS, Result, Settings, core_count
from pretok_bench.train import bench_train
from pretok_bench.worst import CHARACTERS, ENGLISH, bench_worst
from support import run_python

Bench = Callable[..., Iterator[Result]]

OF_TEXTS = [bench_encode, bench_decode]
OF_SUBJECTS = [bench_load, bench_latency]


@pytest.fixture
def subject(tmp_path: Path, backend: BackendName) -> Subject:
    return small_subject(tmp_path, backend)


def bound(bench: Bench, subject: Subject) -> Bench:
    """Return `bench` with all arguments before `peers`."""
    if bench in OF_TEXTS:
        return partial(bench, "made up", TEXT, subject)
    return partial(bench, subject)


@pytest.mark.parametrize("bench", [*OF_TEXTS, *OF_SUBJECTS])
def test_wrong_results_of_a_peer_raise_before_anything_is_timed(
    bench: Bench, subject: Subject
) -> None:
    timed: list[str] = []
    with pytest.raises(WrongAnswerError, match="liar"):
        next(bound(bench, subject)([Liar()], QUICK, timed.append))
    assert not timed


@pytest.mark.parametrize("lie", ["arrays", "lists", "data"])
def test_a_single_call_with_wrong_results_raises(lie: str, subject: Subject) -> None:
    class Partly(Liar):
        def calls(self, subject: Subject) -> Any:
            from dataclasses import replace

            return replace(Ours().calls(subject), **{lie: getattr(super().calls(subject), lie)})

    bench = bench_decode if lie == "data" else bench_encode
    with pytest.raises(WrongAnswerError, match="liar"):
        list(bound(bench, subject)([Partly()], QUICK, nothing))


@pytest.mark.parametrize("bench", [*OF_TEXTS, *OF_SUBJECTS])
def test_a_peer_that_fails_is_absent_with_the_reason(bench: Bench, subject: Subject) -> None:
    first = next(bound(bench, subject)([Failing()], QUICK, nothing))
    assert first.peers() == []
    assert list(first.absent) == ["failing"]
    if bench is not bench_load:
        assert first.absent["failing"] == "it fails with RuntimeError: out of order"


def test_guarded_converts_only_errors_of_peers() -> None:
    with pytest.raises(ZeroDivisionError), guarded(OURS):
        raise ZeroDivisionError
    with pytest.raises(KeyboardInterrupt), guarded("peer"):
        raise KeyboardInterrupt
    with pytest.raises(CannotError, match="it fails with ZeroDivisionError"), guarded("peer"):
        raise ZeroDivisionError


def test_encode_yields_all_rows_with_all_installed_peers(subject: Subject) -> None:
    peers, _ = installed()
    found = {one.what: one for one in bench_encode("made up", TEXT, subject, peers, QUICK, nothing)}
    rows = [f"{way}, {state}" for way in ("bytes to array", "list to arrays", "list to lists")
            for state in ("cold", "warm")]  # fmt: skip
    if core_count() > 1:
        rows += ["list to arrays, two threads", "list to lists, two threads",
                 "list to lists, all cores"]  # fmt: skip
    assert list(found) == rows
    for one in found.values():
        assert set(one.work.values()) == {len(TEXT.encode())}
        assert all(len(runs) == 2 and min(runs) > 0 for runs in one.runs.values())
    here = {peer.name for peer in peers}
    lists = found["list to lists, cold"]
    assert here & {"tiktoken", "tokenizers", "gigatoken", "fastokens"} <= set(lists.peers())
    assert {*lists.peers(), *lists.absent} == here
    if core_count() > 1:
        assert found["list to lists, two threads"].peers() == [ONE_THREAD]


def test_each_round_makes_a_new_tokenizer(subject: Subject) -> None:
    made: list[int] = []

    class Counting(Ours):
        name = "counting"

        def calls(self, subject: Subject) -> Any:
            made.append(1)
            return super().calls(subject)

    runs = bench_encode("made up", TEXT, subject, [Counting()], QUICK, nothing)
    before = 0
    for _ in range(3):
        next(runs)
        # One tokenizer to compare the results, and one for each round.
        assert len(made) - before == 1 + QUICK.rounds
        before = len(made)
        next(runs)


def test_all_contenders_encode_special_tokens_as_text(tmp_path: Path) -> None:
    import bpe

    tokenizer = bpe.train([TEXT], vocab_size=270, special_tokens=["<|endoftext|>"], progress=False)
    whole = Subject("small", tokenizer, tmp_path)
    peers, _ = installed()
    text = "one<|endoftext|>two " * 9
    found = list(bench_encode("made up", text, whole, peers, QUICK, nothing))
    assert found[0].work[OURS] == len(text)


def test_load_reads_the_source_file_of_the_subject(tmp_path: Path, subject: Subject) -> None:
    path = tmp_path / "given.tiktoken"
    subject.bare.save(path)
    seen: list[str] = []

    class Reader(Ours):
        name = "reader"

        def loader(self, path: str, subject: Subject) -> Any:
            seen.append(path)
            return super().loader(path, subject)

    given = Subject("given", subject.tokenizer, tmp_path / "x", str(path), "cl100k")
    given.folder.mkdir()
    found = list(bench_load(given, [Reader()], QUICK, nothing))
    assert [one.what for one in found] == ["load tiktoken", "load json"]
    assert seen[0] == str(path)


def test_latency_counts_calls(subject: Subject) -> None:
    found = list(bench_latency(subject, installed()[0], QUICK, nothing))
    whats = ["one message", "one message to array", "new messages"]
    assert [one.what for one in found] == whats
    assert found[0].text == "42 chars"
    assert all(one.work[OURS] >= 1 for one in found)


def test_worst_compares_with_pretok_on_english(subject: Subject) -> None:
    found = list(bench_worst(TEXT, subject, [], QUICK, nothing, times=50, limit=5.0))
    assert [one.text for one in found] == list(CHARACTERS)
    assert all(name.isascii() for name in CHARACTERS)
    for one in found:
        assert one.peers() == [ENGLISH]
        assert one.work == {
            OURS: len((CHARACTERS[one.text] * 50).encode()), ENGLISH: len(TEXT.encode()),
        }  # fmt: skip


def test_a_child_process_may_fail_or_exceed_its_time_limit(subject: Subject) -> None:
    job = {"job": "repeat", "peer": OURS, **files_of(subject), "text": "a", "times": 50,
           "cpu_time": False}  # fmt: skip
    assert len(run_child(job)["seconds"]) == child.RUNS
    with pytest.raises(ChildError, match=r"status 1: KeyError: 'nobody'"):
        run_child({**job, "peer": "nobody"})
    with pytest.raises(ChildError, match=r"it took more than 0\.01 s"):
        run_child(job, 0.01)


@pytest.mark.skipif(os.name == "nt", reason="no resource module, no /proc")
def test_memory_measures_one_thread_and_all_cores(tmp_path: Path, subject: Subject) -> None:
    peers = [PEERS["regex"]]
    once = Settings(rounds=1)
    found = list(bench_memory("made up", TEXT, subject, peers, once, nothing, megabytes=0.1))
    assert [one.what for one in found] == ["0.1 MB, one thread", "0.1 MB, all cores"]
    for one in found:
        assert len(one.runs[OURS]) == 1
        assert one.absent == {"regex": "it only splits"}


# Runs in its own process: if the system cannot reset the peak of memory, this process keeps the
# peak of earlier tests.
MEMORY = """
import json, sys
from pathlib import Path
import numpy as np
from pretok_bench import child
from pretok_bench.peer import Calls
size = int(sys.argv[2])
def arrays(texts, threads):
    kept = np.ones(size, np.uint8)
    kept[:1] = len(texts) % 2
    return np.ones(size // 4, np.uint32), np.arange(2)
print(json.dumps(child.memory(Calls(arrays=arrays), Path(sys.argv[1]), 0.5, 1)))
"""


@pytest.mark.skipif(os.name == "nt", reason="no resource module, no /proc")
def test_memory_counts_buffers_but_not_the_arrays_of_ids(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(TEXT)
    size = 64_000_000
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}  # of pretok_bench
    done = run_python(MEMORY, str(path), str(size), environment=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["output"] == size + np.arange(2).nbytes
    assert 0.8 * size < found["beyond"] < 1.3 * size
    assert found["input"] >= 500_000
    assert found["documents"] == -(-500_000 // len(TEXT.encode()))


def test_train_times_installed_trainers_and_names_others(backend: BackendName) -> None:
    peers = [PEERS[name] for name in train.TRAINERS if not PEERS[name].missing()]
    here = {peer.name for peer in peers}
    text = generated_texts(20_000)["english"]
    gpt2 = list(bench_train("made up", text, find("gpt2"), 290, backend, peers, QUICK, nothing))
    assert [one.what for one in gpt2] == ["290 ids, one text", "290 ids, documents"]
    assert set(gpt2[0].peers()) == here & {"gigatoken"}
    assert set(gpt2[1].peers()) == here & {"tokenizers", "rustbpe"}
    assert set(gpt2[1].notes) == here & {"rustbpe"}
    other = list(bench_train("made up", text, find("llama3"), 260, backend, peers, QUICK, nothing))
    if "gigatoken" in here:
        assert other[0].absent == {"gigatoken": "it trains with the split of gpt2 only"}


@pytest.mark.parametrize("exact", [True, False])
def test_train_does_not_time_a_trainer_with_other_merges(
    exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def liar(*_: object) -> Any:
        return train._Trainer(lambda: None, lambda _: [b"xx", b"yy"], exact)

    monkeypatch.setitem(train.TRAINERS, "rustbpe", liar)
    runs = bench_train("made up", TEXT, find("gpt2"), 270, None, [PEERS["rustbpe"]], QUICK, nothing)
    assert next(runs).peers() == []
    if exact:
        with pytest.raises(
            WrongAnswerError, match=r"token 0 on, pretok has .*, but rustbpe has \[b'xx'"
        ):
            next(runs)
    else:
        one = next(runs)
        assert one.peers() == []
        assert one.absent["rustbpe"].startswith("only 0.0% of the merged tokens are equal")


def test_quiet_hides_output(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet():
        os.write(1, b"chatter")
        os.write(2, b"chatter")
    os.write(1, b"result")
    assert capfd.readouterr() == ("result", "")
