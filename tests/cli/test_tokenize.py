"""The command line: `pretok tokenize` and `pretok corpus-info`."""

from __future__ import annotations

import errno
import io
import sys
from pathlib import Path

import pytest

import bpe
from bpe.cli import main
from command_line import Call, error_of
from corpora import content, write_json_lines
from pretok.machine.backend import BackendName

TEXTS = ["hello hello", "", "café", "<|end|> x"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_json_lines(tmp_path / "a.jsonl", TEXTS, "body")


def test_every_option_is_passed_on(
    call: Call, given: list[str], path: Path, tmp_path: Path, backend: BackendName
) -> None:
    out = tmp_path / "out"
    arguments = (
        "--field body --layout npy --dtype uint32 --bos 271 --eos <|end|> --special text "
        "--shard-tokens 8 --pack 4 --pad 5 --shuffle 3 --validation 0.5 --skip-bad --lines "
        "--max-text 999 --threads 2"
    )
    options = arguments.split()
    status, output, errors = call("tokenize", str(path), "-o", str(out), *given, *options)
    assert (status, errors) == (0, "")
    expected = bpe.corpus.tokenize(
        path, tmp_path / "expected", bpe.load(given[1], backend=backend), field="body",
        layout="npy", dtype="uint32", bos=271, eos="<|end|>", special="text", shard_tokens=8,
        pack=4, pad=5, shuffle=3, validation=0.5, skip_bad=True, lines=True, max_text=999,
    )  # fmt: skip
    manifest = expected.manifest
    shards = sum(map(len, expected.splits.values()))
    counts = f"{manifest.tokens} tokens, {manifest.documents} documents, {shards} shards"
    assert output == f"'{out}': {counts}\n"
    assert content(out) == content(tmp_path / "expected")
    assert call("tokenize", str(path), "-o", str(out), *given, *options, "-q") == (0, "", "")


def test_special_tokens(call: Call, given: list[str], path: Path, tmp_path: Path) -> None:
    arguments = ("tokenize", str(path), *given, "--field", "body", "-o", str(tmp_path / "out"))
    assert "a.jsonl, line 4: the document holds the special token '<|end|>' at byte 0; pass " in (
        error_of(call, *arguments)
    )
    arguments = (*arguments[:-1], str(tmp_path / "other"), "--allow", "<|end|>")
    assert call(*arguments)[0] == 0
    assert bpe.corpus.Corpus(tmp_path / "other").document(3).tolist()[0] == 270


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--pack 0 --eos 1", "--pack 0; expected None or an int of at least 1"),
        ("--pack 4", "--pack needs an id that fills the last row; pass --pad or --eos"),
        ("--eos no", "--eos 'no' is not a token of this vocabulary"),
        ("--layout tar", "invalid value for '--layout'"),
        ("--field no", "a.jsonl, line 1: no 'no' among the keys ['body', 'id']; pass --field with"),
        ("--special text --allow <pad>", "pass --special or --allow, not both"),
    ],
)
def test_errors(
    call: Call, vocab: str, path: Path, tmp_path: Path, options: str, expected: str
) -> None:
    arguments = ("tokenize", str(path), "--vocab", vocab, "-o", str(tmp_path / "out"))
    assert expected in error_of(call, *arguments, *options.split())


def test_damaged_documents(call: Call, vocab: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff")
    given = ("tokenize", str(path), "--vocab", vocab, "-o", str(tmp_path / "out"))
    assert error_of(call, *given).endswith("pass --skip-bad to leave this document out")
    given = (*given[:-1], str(tmp_path / "rest"))
    assert "damaged documents left out: 1" in call(*given, "--skip-bad")[1]
    assert "left out       " in call("corpus-info", str(tmp_path / "rest"))[1]


def test_a_full_disk(
    call: Call, vocab: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    given = ["tokenize", str(path), "-o", str(out), "--vocab", vocab, "--field", "body"]
    with monkeypatch.context() as patch:
        patch.setattr("bpe.corpus.shards._PartFile.write", full)
        status, _, errors = call(*given, "--special", "text")
    assert status == 2
    assert errors == (
        "pretok: free some space; the same command continues\n"
        f"pretok: error: {str(out)!r}: No space left on device\n"
    )
    assert call(*given, "--special", "text")[0] == 0


def test_corpus_info(call: Call, vocab: str, path: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    given = ("--vocab", vocab, "--field", "body", "--special", "text", "--eos", "271")
    assert call("tokenize", str(path), "-o", out, *given)[0] == 0
    assert call("corpus-info", out) == (0, INFO, "")
    assert call("corpus-info", out, "--document", "2")[1] == "café<pad>"
    assert call("corpus-info", out, "-d", "0", "--ids")[1] == "259 260 271\n"
    status, output, _ = call("corpus-info", out, "--verify")
    assert (status, output.count(": as in the manifest\n")) == (0, 3)
    (tmp_path / "out" / "train-00000.bin").write_bytes(b"")
    status, output, errors = call("corpus-info", out, "--verify")
    assert status == 2
    assert "train-00000.bin: expected 38 bytes, got 0\n" in output
    assert "damaged files: 1" in errors
    assert "document 4 of split 'train'; the split has 4 documents" in error_of(
        call, "corpus-info", out, "-d", "4"
    )
    assert "no split 'val'" in error_of(call, "corpus-info", out, "-d", "4", "--split", "val")
    assert "--ids needs --document" in error_of(call, "corpus-info", out, "--ids")
    assert "no manifest.json" in error_of(call, "corpus-info", str(tmp_path))


INFO = """\
tokens         19
documents      4
text           25 bytes, 1.316 per token
inputs         1 files
vocabulary     tokenizer.pretok, 273 ids
split          cl100k, Unicode 16.0
layout         bin, uint16
split 'train'  19 tokens, 4 documents, 1 shards

tokens in a document
                          1             1 ##################################################
                     2 to 3             1 ##################################################
                     4 to 7             1 ##################################################
                    8 to 15             1 ##################################################
"""


def test_a_plot(call: Call, vocab: str, path: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    given = ("--vocab", vocab, "--field", "body", "--special", "text")
    assert call("tokenize", str(path), "-o", out, *given)[0] == 0
    image = tmp_path / "plot.png"
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert call("corpus-info", out, "--plot", str(image))[0] == 0
    assert image.read_bytes().startswith(b"\x89PNG")
    assert "plot.nothing" in error_of_last(call, out, str(tmp_path / "plot.nothing"))


def error_of_last(call: Call, out: str, image: str) -> str:
    """Return the error of `corpus-info --plot`."""
    status, _, errors = call("corpus-info", out, "--plot", image)
    assert status == 2
    return errors


def test_a_plot_needs_matplotlib(
    call: Call, vocab: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    out = str(tmp_path / "out")
    given = ("--vocab", vocab, "--field", "body", "--special", "text")
    assert call("tokenize", str(path), "-o", out, *given)[0] == 0
    assert "--plot needs matplotlib" in error_of_last(call, out, str(tmp_path / "plot.png"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("options", [[], ["-q"], ["--shuffle", "1"]])
def test_progress_on_a_terminal(
    vocab: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("bpe.progress.DELAY", 0)
    given = ["--vocab", vocab, "--field", "body", "--special", "text", "-o", str(tmp_path / "out")]
    assert main(["tokenize", str(path), *given, *options]) == 0
    text = terminal.getvalue()
    assert ("tokenizing" in text) == ("tokens/s" in text) == ("-q" not in options)
    assert ("shuffling" in text) == ("--shuffle" in options)
