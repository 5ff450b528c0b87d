"""`run.py corpus`: files to tokens, compared with the same documents in memory and peers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench_peers import QUICK, TEXT, nothing, small_subject
from pretok.machine.backend import BackendName
from pretok_bench import corpus
from pretok_bench.answers import Arrays, WrongAnswerError
from pretok_bench.corpus import MEMORY, bench_corpus
from pretok_bench.peer import CannotError
from pretok_bench.peers import PEERS
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS, core_count


@pytest.fixture
def subject(tmp_path: Path, backend: BackendName) -> Subject:
    return small_subject(tmp_path, backend)


def test_each_type_of_file(subject: Subject) -> None:
    results = list(bench_corpus("made up", TEXT, subject, [], QUICK, nothing))
    types = [result.row for result in results if result.what.endswith("one core")]
    assert types[:2] == ["jsonl", "txt"]
    assert types[2] in ("jsonl.zst", "jsonl.gz")
    assert len(results) == 3 * (3 if core_count() > 1 else 1)
    for result in results:
        assert list(result.runs) == [OURS, MEMORY]
        assert result.work[OURS] == len(TEXT.encode())
    assert not list(subject.folder.glob("tmp*"))


@pytest.mark.parametrize("name", corpus.PEERS)
def test_the_peers_give_the_same_ids(subject: Subject, name: str) -> None:
    """Each contender that can read JSON lines takes part, after its ids were compared."""
    peer, _ = corpus.PEERS[name]
    pytest.importorskip(PEERS[peer].module)
    if name == "DataTrove":
        pytest.importorskip("datatrove.pipeline.tokens")
        pytest.importorskip("orjson")
    result = next(bench_corpus("made up", TEXT, subject, [PEERS[peer]], QUICK, nothing))
    assert result.what == "jsonl, one core"
    assert name in result.runs, result.absent


def other_ids(subject: Subject, source: corpus.Input, folder: Path, threads: int) -> corpus.Work:
    def arrays(_: Any) -> Arrays:
        return np.zeros(1, np.uint32), np.array([0] * len(source.texts) + [1])

    return corpus.Work(lambda: None, arrays)


def test_wrong_ids_are_refused(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(corpus.PEERS, "liar", ("gigatoken", other_ids))
    with pytest.raises(WrongAnswerError, match="liar"):
        list(bench_corpus("made up", TEXT, subject, [PEERS["gigatoken"]], QUICK, nothing))


def test_a_contender_that_cannot_is_absent(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: object) -> corpus.Work:
        raise CannotError("not today")

    monkeypatch.setattr(corpus, "PEERS", {"other": ("gigatoken", cannot)})
    for result in bench_corpus("made up", TEXT, subject, [PEERS["gigatoken"]], QUICK, nothing):
        assert result.absent == {"other": "not today"}
