"""The commands of `tests/bench/run.py`: each runs, prints a table, and writes a record."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import goals
import pretok
from bench_peers import TEXT, Liar, small_subject
from command_line import Call, error_of
from pretok_bench import session as bench_session
from pretok_bench import subject as bench_subject
from pretok_bench.peers import PEERS
from pretok_bench.split import METHODS, bench_split
from pretok_bench.timing import OURS, Result

COMMANDS: dict[str, list[str]] = {
    "split": ["-p", "gpt2"],
    "encode": [],
    "decode": [],
    "load": ["--peer", "tiktoken"],
    "latency": ["--peer", "tiktoken", "--peer", "sentencepiece"],
    "worst": ["--times", "20", "--peer", "regex"],
    "train": ["-n", "270"],
    "memory": ["--megabytes", "0.1", "--peer", "regex"],
    "corpus": ["--peer", "gigatoken"],
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .tiktoken file with a small vocabulary."""
    folder = tmp_path_factory.mktemp("bench")
    path = folder / "tiny.tiktoken"
    small_subject(folder).bare.save(path)
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "english.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def record_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_runs_and_writes_a_record(
    command: str, call: Call, small: Path, text: Path, tmp_path: Path
) -> None:
    record = tmp_path / "record.json"
    arguments = [command, *COMMANDS[command], "--rounds", "1", "--json", str(record)]
    if command not in ("split", "train"):
        arguments += ["-v", str(small), "-p", "cl100k"]
    if command not in ("load", "latency"):
        arguments += [str(text)]
    status, output, errors = call(*arguments)
    assert (status, errors) == (0, "")
    saved = record_of(record)
    assert saved["complete"] is True
    assert {one["group"] for one in saved["measured"]} == {command}
    for one in saved["measured"]:
        assert one["what"] in output
        assert one["text"] in ("english", "", "42 chars") or command == "worst"
        assert one["median"][OURS] == Result.of_record(one).median(OURS)
    assert output.isascii()


def test_a_record_says_what_its_figures_depend_on(call: Call, text: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    assert call("split", str(text), "-p", "o200k", "--rounds", "3", "--cpu-time",
                "--peer", "regex", "--json", str(record))[0] == 0  # fmt: skip
    saved = record_of(record)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", saved["date"])
    assert saved["machine"]
    assert saved["pretok"] == pretok.__version__
    assert set(saved["peers"]) == set(PEERS)
    assert saved["peers"]["regex"]
    assert saved["texts"] == {"english": len(TEXT.encode())}
    assert saved["settings"] == {
        "rounds": 3, "budget": 20.0, "least": 2, "cpu_time": True, "is_strict": True,
    }  # fmt: skip
    assert [one["what"] for one in saved["measured"]] == list(METHODS)
    assert all(len(one["runs"]["regex"]) == 3 for one in saved["measured"])


def test_peers_that_are_missing_are_named(
    call: Call, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PEERS:
        monkeypatch.setattr(type(PEERS[name]), "module", "no_such_module")
    record = tmp_path / "record.json"
    status, output, _ = call("split", str(text), "-p", "gpt2", "--json", str(record))
    assert status == 0
    names = [name for name, peer in PEERS.items() if not peer.needs_venv]
    for name in names:
        assert f"{name} is left out: not installed\n" in output
    saved = record_of(record)
    assert saved["missing"] == dict.fromkeys(names, "not installed")
    assert set(saved["peers"].values()) == {None}
    assert [list(one["runs"]) for one in saved["measured"]] == [[OURS]] * 3


def test_bench_all_measures_every_group_and_goals_judge_its_record(
    call: Call, small: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.json"
    status, _, _ = call(
        "all", str(text), "-v", str(small), "-p", "cl100k", "--rounds", "1",
        "--times", "20", "--megabytes", "0.1", "-n", "270", "--peer", "regex",
        "--json", str(record),
    )  # fmt: skip
    assert status == 0
    assert goals.main([str(record)]) == 0
    table = capsys.readouterr().out
    assert table.startswith("goal ")
    counted = next(line for line in table.splitlines() if line.startswith("count of english"))
    assert counted.split()[4:6] == ["regex", "150x"]
    assert counted.split()[7] in ("yes", "NO")
    groups = {one["group"] for one in record_of(record)["measured"]}
    assert groups == set(COMMANDS)


def test_files_that_are_not_records_are_not_judged(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, message in (
        ([str(text)], "is not a record of 'tests/bench/run.py'"),
        ([str(tmp_path / "missing")], "missing"),
        ([], "usage: python tests/bench/goals.py RECORD..."),
    ):
        assert goals.main(arguments) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"a\xffb"])
def test_files_without_text_are_refused(call: Call, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(content)
    message = error_of(call, "split", str(path))
    assert ("empty" if not content else "not UTF-8 at byte 1") in message


def test_two_files_with_the_same_stem_are_refused(call: Call, text: Path, tmp_path: Path) -> None:
    other = tmp_path / "english.md"
    other.write_text("x")
    message = error_of(call, "split", str(text), str(other))
    assert "another file is also called english" in message


def test_a_record_that_cannot_be_written_is_refused_before_the_work(
    call: Call, text: Path, tmp_path: Path
) -> None:
    place = tmp_path / "none" / "record.json"
    assert "the folder does not exist" in error_of(call, "split", str(text), "--json", str(place))


def test_an_unknown_preset_or_vocabulary_gives_an_error_of_one_line(call: Call, text: Path) -> None:
    assert "unknown preset" in error_of(call, "train", str(text), "-p", "gtp2")
    assert "no_such" in error_of(call, "latency", "-v", "no_such")


def test_an_interrupted_run_writes_a_record_of_its_results(
    call: Call, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = bench_split

    def broken(*given: Any) -> Any:
        yield next(real(*given))
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_session, "bench_split", broken)
    record = tmp_path / "record.json"
    status, _, _ = call("split", str(text), "-p", "gpt2", "--json", str(record))
    assert status == 130
    saved = record_of(record)
    assert saved["complete"] is False
    assert len(saved["measured"]) == 1


def test_wrong_answers_end_the_run(
    call: Call, small: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PEERS, "regex", Liar())
    monkeypatch.setattr(Liar, "missing", lambda self: "")
    record = tmp_path / "record.json"
    status, output, errors = call("encode", str(text), "-v", str(small), "-p", "cl100k",
                                  "--peer", "regex", "--json", str(record))  # fmt: skip
    assert status == 2
    assert errors.startswith("pretok: error: english, tiny, document 0: from id ")
    assert "liar has [7]" in errors
    assert not record.exists()
    assert "MB/s" not in output


def test_without_files_generated_texts_are_measured(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_subject, "MADE_UP_TEXT", 20_000)
    monkeypatch.setattr(bench_subject, "MADE_UP_SIZE", 600)
    status, output, _ = call("encode", "--size", "0.001", "--rounds", "1",
                             "--peer", "regex")  # fmt: skip
    assert status == 0
    for name in ("english", "code", "cjk", "mixed"):
        assert f"\n{name} " in output
    assert " made-up " in output
