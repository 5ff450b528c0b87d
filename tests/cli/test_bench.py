"""`pretok bench` compares ids with the installed peers, and then measures both sides."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bpe
from bpe.cli.bench_peers import PEERS, CannotError, Peer, Subject, rows_of_buffers
from command_line import Call, error_of
from pretok.machine.backend import BackendName

TEXT = "Hello world 123, it's 漢字 and\n\n  more.\n" * 20


@pytest.fixture(scope="module")
def tokenizer() -> bpe.Tokenizer:
    return bpe.train([TEXT], vocab_size=280, preset="gpt2", progress=False)


@pytest.fixture
def vocab(tokenizer: bpe.Tokenizer, tmp_path: Path) -> str:
    tokenizer.save(tmp_path / "tiny.json")
    return str(tmp_path / "tiny.json")


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "english.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


@pytest.fixture
def peer(tokenizer: bpe.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A peer called tiktoken, which returns arrays of our ids; `change` changes its rows."""
    made = SimpleNamespace(change=lambda rows: rows, loads=0)

    def load(package: Any, subject: Subject) -> Any:
        made.loads += 1
        return tokenizer.encode_batch

    stand_in = Peer("pretok", load, lambda rows: made.change(rows), has_arrays=True)
    monkeypatch.setitem(PEERS, "tiktoken", stand_in)
    return made


def run(call: Call, *arguments: str) -> str:
    status, output, errors = call("bench", *arguments)
    assert (status, errors) == (0, "")
    return output


def test_each_contender_has_a_line_with_speeds_and_ratios(
    call: Call, vocab: str, text: str, peer: SimpleNamespace
) -> None:
    before = dict(os.environ)
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    output = run(call, "-v", vocab, text, "--peer", "tiktoken", "--rounds", "3", "--cpu-time")
    head, columns, *lines = output.splitlines()
    assert head.startswith(f"{text}: {len(TEXT.encode()):,} bytes, ")
    assert columns.split() == ["COLD", "WARM", "RATIO,", "COLD", "RATIO,", "WARM"]
    names = [line[:15].rstrip() for line in lines]
    assert names == ["pretok, lists", "pretok, arrays", "tiktoken"]
    assert [line.count("MB/s") for line in lines] == [2, 2, 2]
    assert len(lines[2].split()) == 7
    assert peer.loads == 1 + 3  # one to compare the ids, and one for each round
    assert dict(os.environ) == before
    if cores is not None:
        assert os.sched_getaffinity(0) == cores


def test_a_peer_with_other_ids_is_named_and_not_measured(
    call: Call, vocab: str, text: str, peer: SimpleNamespace
) -> None:
    peer.change = lambda rows: [*rows[:-1], [7]]
    output = run(call, "-v", vocab, text, "--peer", "tiktoken")
    assert 'tiktoken is left out: its ids differ, first in document 0: "Hello world' in output
    assert "tiktoken  " not in output


def test_peers_that_fail_or_are_missing_are_named_once(
    call: Call, vocab: str, text: str, peer: SimpleNamespace, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(rows: object) -> Any:
        raise RuntimeError("out of order\nsecond line")

    peer.change = fail
    monkeypatch.setitem(PEERS, "tokenizers", Peer("no_such_module", PEERS["tokenizers"].load))
    other = tmp_path / "other.txt"
    other.write_text("x y z")
    output = run(call, "-v", vocab, text, str(other), "--rounds", "1", "--peer", "tiktoken",
                 "--peer", "tokenizers", "--peer", "sentencepiece")  # fmt: skip
    assert output.count("tokenizers is left out: not installed\n") == 1
    assert output.count("tiktoken is left out: it fails with RuntimeError: out of order\n") == 1
    assert "sentencepiece is left out: " in output
    assert f"\n{other}: 5 bytes" in output


def test_an_interrupt_in_a_peer_ends_the_command(
    call: Call, vocab: str, text: str, peer: SimpleNamespace
) -> None:
    def interrupt(rows: object) -> Any:
        raise KeyboardInterrupt

    peer.change = interrupt
    assert call("bench", "-v", vocab, text, "--peer", "tiktoken")[0] == 130


def test_every_installed_peer_returns_the_ids_of_pretok(
    call: Call, vocab: str, text: str, backend: BackendName
) -> None:
    output = run(call, "-v", vocab, text, "--rounds", "1", "--backend", backend)
    measured = {line.split()[0] for line in output.splitlines() if line.count(" MB/s") == 2}
    assert {"tiktoken", "tokenizers"} <= measured
    for name in PEERS.keys() - measured:
        why = output.partition(f"\n{name} is left out: ")[2].partition("\n")[0]
        assert why in (
            "not installed",
            "it has only cl100k_base and o200k_base",
            "VOCAB is not a .model file of SentencePiece",
        )


def test_a_vocabulary_that_a_peer_cannot_read_is_explained(text: str) -> None:
    tokenizer = bpe.train([TEXT], vocab_size=257, preset="deepseek-v3", progress=False)
    subject = Subject(tokenizer, "", Path(text).parent)
    with pytest.raises(CannotError, match="a split that is not one pattern"):
        _ = subject.preset


def test_ids_and_offsets_become_rows() -> None:
    ids, offsets = np.array([1, 2, 3], np.uint32), np.array([0, 2, 2, 3], np.uint64)
    rows = [[1, 2], [], [3]]
    assert rows_of_buffers((ids, offsets)) == rows
    assert rows_of_buffers((ids.tobytes(), offsets.tobytes())) == rows
    assert rows_of_buffers({"data": ids, "offsets": offsets}) == rows


def test_inputs_are_checked(call: Call, vocab: str, text: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert "empty" in error_of(call, "bench", "-v", vocab, str(empty))
    assert "no_such" in error_of(call, "bench", "-v", "no_such", text)
    assert "missing" in error_of(call, "bench", "-v", vocab, str(tmp_path / "missing"))
    assert "missing argument 'FILE...'" in error_of(call, "bench", "-v", vocab)


def test_a_conversation(call: Call, vocab: str, text: str) -> None:
    """`pretok bench session` has a line for each way to get the ids of a turn."""
    output = run(call, "session", text, "-v", vocab, "--turns", "4")
    assert "4 turns, " in output
    rows = {line[:24].strip(): line[24:].split() for line in output.splitlines()[2:]}
    for name in ("pretok, session", "pretok, each turn", "tokenizers, each turn"):
        assert len(rows[name]) == 5, rows
        assert rows[name][-1] == "0"
    assert int(rows["ids of both texts"][0]) <= 4
    assert call("bench", "session", "-v", vocab)[0] == 0
