"""The command line: `pretok compare`, and the pictures of other commands."""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

import pytest

import bpe
from bpe.statistics import compare, curve
from command_line import Call, error_of, open_terminal, running, shown, small_tokenizer
from pretok.machine.backend import BackendName

TEXT = "hello hello, caf\u00e9 <pad>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with two vocabularies and two texts."""
    small_tokenizer().save(tmp_path / "small.json")
    bpe.train(["caf\u00e9 caf\u00e9"], vocab_size=260).save(tmp_path / "trained.json")
    tmp_path.joinpath("a.txt").write_text(TEXT, encoding="utf-8")
    tmp_path.joinpath("b.txt").write_text("12", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


TABLES = """\
a.txt: 24 bytes, 4 words
VOCABULARY    BYTES/TOKEN  TOKENS/WORD  ONE-TOKEN WORDS
small.json          1.714        2.250            50.0%
trained.json        1.200        3.500            25.0%

b.txt: 2 bytes, 0 words
VOCABULARY    BYTES/TOKEN  TOKENS/WORD  ONE-TOKEN WORDS
small.json          1.000
trained.json        1.000
"""


def test_tables(call: Call, folder: Path, backend: BackendName) -> None:
    given = ("compare", "small.json", "trained.json", "--on", "a.txt", "--on", "b.txt")
    status, output, errors = call(*given, "--backend", backend)
    assert (status, errors) == (0, "")
    assert output == TABLES


def test_json(call: Call, folder: Path) -> None:
    status, output, _ = call("compare", "small.json", "--on", "a.txt", "--json")
    [row] = compare({"small.json": small_tokenizer()}, {"a.txt": TEXT})
    assert status == 0
    assert json.loads(output) == [
        {
            **row._asdict(),
            "bytes_per_token": row.bytes_per_token,
            "tokens_per_word": row.tokens_per_word,
            "one_token_share": row.one_token_share,
        }
    ]


def test_the_table_fits_the_terminal(folder: Path) -> None:
    long = folder / ("x" * 90 + ".json")
    small_tokenizer().save(long)
    with (
        open_terminal() as terminal,
        running("compare", str(long), "--on", str(folder / "a.txt"), stdout=terminal[1]) as process,
    ):
        output = shown(process, terminal).decode()
    lines = output.split("\r\n")
    assert max(map(len, lines)) == 80
    assert lines[2].startswith("…xxx")


def test_differences(call: Call, folder: Path) -> None:
    status, output, errors = call("compare", "small.json", "small.json")
    assert (status, errors) == (0, "")
    assert output.startswith("no difference; ")
    status, output, errors = call("compare", "small.json", "trained.json")
    assert (status, errors) == (1, "")
    assert output.startswith("first: small.json\nsecond: trained.json\ntokens only in the first: ")
    assert "\nexample: the ids of " in output
    status, output, _ = call("compare", "small.json", "trained.json", "--json")
    assert status == 1
    assert json.loads(output)["names"] == ["small.json", "trained.json"]


def test_errors(call: Call, folder: Path) -> None:
    assert "expected two VOCABs, got 1" in error_of(call, "compare", "small.json")
    assert "need --on FILE" in error_of(call, "compare", "small.json", "small.json", "--binary")
    assert "missing argument 'VOCAB...'" in error_of(call, "compare", "--on", "a.txt")
    given = ("compare", "small.json", "--on", "a.txt", "--plot")
    assert "--plot: expected a name that ends in" in error_of(call, *given, "a.jpg")
    assert "its folder does not exist" in error_of(call, *given, "none/a.svg")


def test_matplotlib_is_needed_before_the_work(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    train = ("train", "a.txt", "-n", "300", "-o", "out.json", "--curve", "x.svg")
    for given in (
        ("compare", "small.json", "--on", "a.txt", "--plot", "x.svg"),
        ("inspect", "small.json", "--plot", "x.svg"),
        train,
    ):
        error = error_of(call, *given)
        assert "needs matplotlib; install it with `pip install matplotlib`" in error
    assert not os.path.exists("out.json")


def test_pictures(call: Call, folder: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for given in (
        ("compare", "small.json", "--on", "a.txt", "--plot", "x.svg"),
        ("inspect", "small.json", "--plot", "y.svg"),
        ("train", "a.txt", "-n", "258", "-o", "out.json", "-q", "--curve", "z.svg"),
    ):
        status, _, errors = call(*given)
        assert (status, errors) == (0, "")
        assert "</svg>" in folder.joinpath(given[-1]).read_text(encoding="utf-8")


def test_the_numbers_of_a_curve(call: Call, folder: Path, backend: BackendName) -> None:
    given = ("train", "a.txt", "-n", "262", "-o", "out.json", "-q", "--backend", backend)
    status, output, errors = call(*given, "--curve", "c.csv", "--held-out", "b.txt")
    assert (status, output, errors) == (0, "", "")
    with open("c.csv", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["vocabulary", "tokens of training text", "bytes per token of training text",
                    "tokens of held-out text", "bytes per token of held-out text"]  # fmt: skip
    trained = curve(bpe.load("out.json"), [TEXT])
    columns = [*zip(*rows, strict=True)]
    assert [int(size) for size in columns[0]] == trained.sizes.tolist()
    assert [int(count) for count in columns[1]] == trained.tokens.tolist()
    assert [float(ratio) for ratio in columns[2]] == trained.bytes_per_token.tolist()
    assert set(columns[3]) == {"2"}
    assert "--held-out needs --curve" in error_of(call, *given, "--held-out", "b.txt")
