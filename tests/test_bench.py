"""`pretok bench`: answers are compared before anything is timed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import pretok
from pretok.bench import METHODS, Measurement, WrongAnswerError, bench_split
from pretok.bench.text import generated_texts
from pretok.cli.bench import bench_command
from pretok.errors import PretokError
from pretok.pretokenizer import BackendName

QWEN2 = pretok.get("qwen2").preset


def test_bench_split_measures_each_method(backend: BackendName) -> None:
    text = "Hello world 123\n" * 50
    measured = bench_split("made up", text, QWEN2, backend, runs=3)
    assert [one.method for one in measured] == list(METHODS)
    for one in measured:
        assert one.pre_tokens == pretok.get("qwen2").count(text)
        assert one.characters == len(text)
        assert len(one.seconds) == len(one.peer_seconds) == 3
        assert min(one.seconds + one.peer_seconds) > 0


def test_bench_split_refuses_to_time_wrong_answers(backend: BackendName) -> None:
    wrong = replace(QWEN2, pattern=pretok.get("llama3").preset.pattern)
    with pytest.raises(WrongAnswerError, match=r"pre-token 1 is \['1'\], regex has \['123'\]"):
        bench_split("made up", "a123", wrong, backend, runs=1)


def test_the_ratio_is_the_median_of_paired_runs() -> None:
    one = Measurement("t", "p", "split", 4_000_000, 9, (1.0, 2.0, 4.0), (4.0, 4.0, 4.0))
    assert one.ratios == [4.0, 2.0, 1.0]
    assert one.ratio == 2.0
    assert one.rate(one.seconds) == 2.0


def test_command_measures_files_and_writes_a_record(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("one two  three\n" * 30)
    record = tmp_path / "record.json"
    done = CliRunner().invoke(
        bench_command,
        ["split", str(text), "-p", "gpt2", "-p", "o200k", "--runs", "1", "--json", str(record)],
    )
    assert done.exit_code == 0, done.output
    assert [line.split()[1] for line in done.stdout.splitlines()[2:]] == ["gpt2", "o200k"]
    saved = json.loads(record.read_text())
    assert [one["method"] for one in saved["measured"]] == [*METHODS, *METHODS]
    assert saved["regex"]
    assert saved["pretok"] == pretok.__version__


@pytest.mark.parametrize(("content", "wrong"), [(b"", "empty"), (b"a\xffb", "not UTF-8 at byte 1")])
def test_command_refuses_what_is_no_text(tmp_path: Path, content: bytes, wrong: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(content)
    done = CliRunner().invoke(bench_command, ["split", str(path)])
    assert isinstance(done.exception, PretokError)
    assert wrong in str(done.exception)


def test_generated_texts_are_always_the_same_and_of_each_kind() -> None:
    texts = generated_texts()
    assert texts == generated_texts()
    assert set(texts) == {"english", "code", "cjk", "mixed"}
    assert texts["english"].isascii()
    assert texts["code"].isascii()
    cjk = sum("\u3040" <= char <= "\ud7a3" for char in texts["cjk"])
    assert cjk > len(texts["cjk"]) // 2
