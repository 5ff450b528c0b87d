"""`run.py matrix` writes three files, names missing peers, and keeps interrupted results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench_peers import TEXT as SENTENCE
from bench_peers import Equal, Liar, small_subject
from command_line import Call, error_of
from pretok_bench.matrix import COLUMNS, GROUP, OF_SUBJECT
from pretok_bench.peers import PEERS
from pretok_bench.timing import OURS, allowed_cores
from support import need_native

FILES = ("matrix.json", "matrix.md", "matrix.svg")


@pytest.fixture(autouse=True)
def peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace gigatoken and fastokens by peers that are always installed.

    Equal, for gigatoken, returns our ids; Liar, for fastokens, returns wrong ids.
    """
    for name, peer in (("gigatoken", Equal()), ("fastokens", Liar())):
        monkeypatch.setitem(PEERS, name, peer)
        monkeypatch.setattr(type(peer), "missing", lambda self: "")


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """Arguments for one tiny vocabulary and text, and one round."""
    path = tmp_path / "tiny.tiktoken"
    small_subject(tmp_path).bare.save(path)
    text = tmp_path / "english.txt"
    text.write_text(TEXT, encoding="utf-8")
    return ["matrix", str(text), "-v", str(path), "-p", "cl100k", "--rounds", "1",
            "--peer", "gigatoken", "-o", str(tmp_path / "out")]  # fmt: skip


MEASURED = set(COLUMNS) - {"load model"}  # the vocabulary is not a .model file
TEXT = "".join(f"{number} {SENTENCE[:200]}\n" for number in range(30))  # two documents


def record_in(folder: Path) -> Any:
    return json.loads((folder / "matrix.json").read_text(encoding="utf-8"))


def test_each_shape_is_printed_recorded_and_drawn(
    call: Call, given: list[str], tmp_path: Path
) -> None:
    cores = allowed_cores()
    status, output, errors = call(*given)
    assert (status, errors) == (0, "")
    assert output.isascii()
    assert allowed_cores() == cores
    folder = tmp_path / "out"
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert all(f"wrote {folder / name}\n" in output for name in FILES)
    record = record_in(folder)
    assert record["complete"] is True
    assert record["settings"]["is_strict"] is False
    assert {one["what"] for one in record["measured"]} == MEASURED
    assert all(list(one["runs"]) == [OURS, "equal"] for one in record["measured"])
    assert {one["group"] for one in record["measured"]} == {GROUP, "latency", "load"}
    assert output.count(" equal ") == len(MEASURED)
    assert "geometric mean against the best peer, arrays cold: " in output
    markdown = (folder / "matrix.md").read_text(encoding="utf-8")
    assert "| tiny | english | " in markdown
    root = ElementTree.parse(folder / "matrix.svg").getroot()
    assert len(root.findall("{*}g")) == len(MEASURED)


def test_a_peer_whose_ids_differ_is_named_and_the_run_goes_on(
    call: Call, given: list[str], tmp_path: Path
) -> None:
    status, output, _ = call(*given, "--peer", "fastokens", "-s", "arrays", "-s", "message")
    assert status == 0
    assert "left out, as its ids differ: liar (tiny: english, message)" in output
    assert "list to lists" not in output
    markdown = (tmp_path / "out" / "matrix.md").read_text(encoding="utf-8")
    assert "| tiny | yes | other ids |" in markdown


def test_missing_vocabularies_are_named(call: Call, given: list[str], tmp_path: Path) -> None:
    status, output, _ = call(*given, "-v", "llama3", "-s", "message", "--vocab-dir", str(tmp_path))
    assert status == 0
    assert "\nvocabulary llama3 is left out: no llama3.json or llama3.tiktoken" in output
    assert "llama3" in record_in(tmp_path / "out")["absent"]


def test_an_interrupted_run_keeps_its_results(
    call: Call, given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Iterator[Any]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setitem(OF_SUBJECT, "message", broken)
    assert call(*given, "-s", "arrays", "-s", "message")[0] == 130
    record = record_in(tmp_path / "out")
    assert record["complete"] is False
    assert len(record["measured"]) == 4
    assert "the run was interrupted" in (tmp_path / "out" / "matrix.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)


def test_a_generated_text_can_be_chosen(call: Call, given: list[str], tmp_path: Path) -> None:
    del given[1]
    status, output, _ = call(*given, "--size", "0.001", "-s", "lists", "-t", "cjk")
    assert status == 0
    assert list(record_in(tmp_path / "out")["texts"]) == ["cjk"]
    assert "english" not in output


def test_kernels_are_chosen_and_recorded(call: Call, given: list[str], tmp_path: Path) -> None:
    need_native()
    from pretok import _core

    chosen: list[str] = []
    use = _core.use_kernels

    def noted(name: str) -> bool:
        chosen.append(name)
        return use(name)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_core, "use_kernels", noted)
            status, _, _ = call(*given, "-s", "lists", "--kernels", "plain")
            assert status == 0
            assert record_in(tmp_path / "out")["kernels"] == "plain"
            assert "expected one of" in error_of(call, *given, "--kernels", "abacus")
    finally:
        use(_core.kernels()[0])
    assert chosen == ["plain", "abacus"]


def test_unknown_names_are_refused_before_the_work(
    call: Call, given: list[str], tmp_path: Path
) -> None:
    assert "no text is called 'klingon'; expected one of english" in error_of(
        call, *given, "-t", "klingon"
    )
    assert "no_such" in error_of(call, *given, "-v", "no_such")
    assert not (tmp_path / "out").exists()
