"""The command line: train, tokenize, count and encode accept the same inputs in the same way."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import bpe
from command_line import Call, error_of, small_tokenizer
from corpora import parquet_file, write_json_lines
from paths import shared
from pretok.errors import short_path

LEFT_OUT = (
    "pretok: left out 2 files in folders: 1 .md, 1 .py; only .txt, .jsonl and .parquet files are "
    "read; pass --include '*' to read every text file\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one text in each file, except two in c.jsonl."""
    place = tmp_path / "in"
    (place / "d").mkdir(parents=True)
    (place / "a.txt").write_bytes(b"hello")
    (place / "b.md").write_bytes(b"hello hello")
    write_json_lines(place / "c.jsonl", ["hello x", "x"], "body")
    (place / "d" / "e.py").write_bytes(b"x x")
    (place / "d" / "f.txt.gz").write_bytes(gzip.compress(b"x"))
    return place


CASES: list[tuple[list[str], list[str], list[str], str]] = [
    # the inputs, the options, the texts, and what is printed on standard error
    (["in"], [], ["hello", "hello x", "x", "x"], LEFT_OUT),
    (["in"], ["--include", "*.py"], ["x x"], "4 files in folders: 1 .jsonl"),
    (["in"], ["--include", "*.md", "--include", "e*"], ["hello hello", "x x"], "3 files in fold"),
    (["in"], ["--include", "*"], ["hello", "hello hello", "hello x", "x", "x x", "x"], ""),
    (["in/a.txt", "in/b.md"], [], ["hello", "hello hello"], ""),
    (["in/?.md", "in/c.*"], [], ["hello hello", "hello x", "x"], ""),
    (["in/b.md"], [], ["hello hello"], ""),
    (["in/c.jsonl"], [], ["hello x", "x"], ""),
    (["in/d/f.txt.gz"], [], ["x"], ""),
]


def shown(errors: str, expected: str) -> bool:
    return expected in errors if expected else not errors


@pytest.mark.parametrize(("inputs", "options", "texts", "left_out"), CASES)
def test_the_same_inputs(
    call: Call,
    given: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    inputs: list[str],
    options: list[str],
    texts: list[str],
    left_out: str,
) -> None:
    monkeypatch.chdir(folder.parent)
    tok = small_tokenizer("python")
    ids = tok.encode_batch(texts)
    arguments = [*inputs, *options, "--field", "body"]
    status, output, errors = call("encode", *given, *arguments)
    assert (status, shown(errors, left_out)) == (0, True)
    assert [list(map(int, line.split())) for line in output.splitlines()] == ids
    status, output, errors = call("count", *given, *arguments)
    assert (status, shown(errors, left_out)) == (0, True)
    assert int(output.split()[-1 if len(output.split()) == 1 else -2]) == sum(map(len, ids))
    status, output, errors = call("tokenize", *given, *arguments, "-o", "out")
    assert (status, shown(errors, left_out)) == (0, True)
    assert ("files in folders left out: " in output) == bool(left_out)
    assert ("\nnot read       1 ." in call("corpus-info", "out")[1]) == bool(left_out)
    assert [row.tolist() for row in bpe.corpus.Corpus("out")] == ids
    status, output, errors = call("train", *arguments, "-n", "258", "-o", "v.json")
    lines = [line for line in errors.splitlines(True) if "merged tokens" not in line]
    assert (status, shown("".join(lines), left_out)) == (0, True)
    assert bpe.load("v.json").merges == bpe.train(texts, vocab_size=258).merges
    assert call("train", *arguments, "-n", "258", "-o", "v.json", "-q")[2] == ""


def test_parquet(call: Call, given: list[str], tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet_file(["hello", "x"]))
    assert call("encode", *given, str(path))[1] == "259\n120\n"
    assert call("count", *given, str(path))[1] == "2\n"
    assert call("count", *given, str(path), "--lines")[1] == "1\n1\n"
    assert call("train", str(path), "-n", "260", "-o", str(tmp_path / "v.json"))[0] == 0
    assert "no column 'no'" in error_of(call, "count", *given, str(path), "--field", "no")


def test_an_error_names_the_option(
    call: Call, given: list[str], folder: Path, tmp_path: Path
) -> None:
    path, out = str(folder / "c.jsonl"), str(tmp_path / "out")
    for command in (["count", *given], ["encode", *given], ["tokenize", *given, "-o", out]):
        assert "pass --field with the key of the text" in error_of(call, *command, path)
    (folder / "bad.txt.gz").write_bytes(b"bad")
    assert "truncated or damaged" in error_of(call, "count", *given, str(folder / "bad.txt.gz"))


def test_an_option_that_an_error_asked_for_is_accepted(
    call: Call, given: list[str], folder: Path, tmp_path: Path
) -> None:
    arguments = ["tokenize", str(folder / "c.jsonl"), *given, "-o", str(tmp_path / "out")]
    assert "pass --field" in error_of(call, *arguments)
    assert call(*arguments, "--field", "body")[0] == 0
    arguments[1] = str(folder / "bad.txt")
    (folder / "bad.txt").write_bytes(b"x <pad>\xff")
    arguments[-1] = str(tmp_path / "out2")
    assert "pass --skip-bad" in error_of(call, *arguments)
    (folder / "bad.txt").write_bytes(b"x <pad>")
    assert "pass --special 'text'" in error_of(call, *arguments)
    assert call(*arguments, "--special", "text")[0] == 0


def test_several_texts_need_a_format_of_lines(call: Call, given: list[str], folder: Path) -> None:
    for inputs in ([str(folder / "c.jsonl")], [str(folder / "a.txt"), str(folder / "b.md")]):
        message = error_of(call, "encode", *given, *inputs, "-f", "uint32", "--field", "body")
        assert message.startswith("--format uint32 is for one text, but FILE has several; use ")
    output = call("encode", *given, str(folder / "c.jsonl"), "-f", "json", "--field", "body")[1]
    assert [json.loads(line) for line in output.splitlines()] == [[259, 32, 120], [120]]


def test_standard_input(call: Call, given: list[str], folder: Path) -> None:
    given = [*given, str(folder / "a.txt"), "-"]
    assert call("encode", *given, stdin=b"x")[1] == "259\n120\n"
    assert call("count", *given, stdin=b"x")[1].split()[-2] == "2"
    assert error_of(call, "tokenize", *given, "-o", "out").startswith(
        "standard input cannot be read again if the work is interrupted; write it to a file"
    )


@pytest.mark.parametrize("command", ["count", "encode", "tokenize", "train"])
def test_missing_files_and_files_that_are_not_texts(
    call: Call, given: list[str], tmp_path: Path, command: str
) -> None:
    arguments: list[Any] = {
        "tokenize": [*given, "-o", "o"],
        "train": ["-n", "300", "-o", "o.json"],
    }.get(command, given)
    path = tmp_path / "a.bin"
    message = error_of(call, command, str(path), *arguments)
    advice = "pass a readable file" if command in ("count", "encode") else "check the path"
    assert f"{str(path)!r}: No such file or directory; {advice}" in message
    assert "unknown file type" not in message
    path.write_bytes(b"x\0")
    assert "a.bin: byte 1 is NUL, so the file is not a text" in error_of(
        call, command, str(path), *arguments
    )
    if command in ("count", "encode"):
        assert call(command, str(path), *arguments, "--binary")[0] == 0


def test_special_tokens_count_as_text(call: Call, given: list[str], folder: Path) -> None:
    tok = small_tokenizer("python")
    (folder / "a.txt").write_bytes("é <pad>".encode())
    write_json_lines(folder / "c.jsonl", ["x", "<pad>"])
    sizes = [len(tok.encode(text, "text")) for text in ("é <pad>", "x", "<pad>", "x")]
    status, output, errors = call("count", *given, str(folder))
    rows = [line.split() for line in output.splitlines()]
    expected = [sizes[0], sizes[1] + sizes[2], sizes[3], sum(sizes)]
    assert (status, [int(row[0]) for row in rows]) == (0, expected)
    path = str(folder / "a.txt")
    assert errors == LEFT_OUT + (
        f"pretok: special tokens in the text count as ordinary text; the first is '<pad>' in "
        f"{path!r}, byte 3; pass --special allow to count them as their ids, or --special raise to "
        "stop there\n"
    )
    path = str(folder / "c.jsonl")
    for lines in ([], ["--lines"]):
        output, errors = call("count", *given, path, *lines)[1:]
        assert sum(map(int, output.split())) == expected[1]
        assert f"'<pad>' in {path!r}, document 2, byte 0; pass --special allow" in errors
    assert call("count", *given, path, "--special", "text")[2] == ""
    assert call("count", *given, path, "--special", "allow") == (0, "2\n", "")
    assert "'c.jsonl" not in error_of(call, "count", *given, path, "--special", "raise")
    assert "document 2, byte 0: the text has" in error_of(call, "encode", *given, path)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_errors_of_permission_have_advice(
    call: Call, given: list[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "v.json")

    monkeypatch.setattr("bpe.load", refused)
    message = error_of(call, "count", *given, "-t", "x")
    assert message.startswith(f"'v.json': {os.strerror(number)}; ")
    assert "choose" in message


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user with limits")
def test_a_folder_that_cannot_be_read(call: Call, given: list[str], folder: Path) -> None:
    (folder / "d").chmod(0)
    try:
        for inputs in (folder, folder / "*", folder / "*" / "*.py"):
            message = error_of(call, "count", *given, str(inputs))
            assert message.startswith(f"cannot open {str(folder / 'd')!r}: Permission denied; pass")
    finally:
        (folder / "d").chmod(0o700)


@pytest.mark.filterwarnings("always::bpe.VocabularyWarning")
def test_a_preset_that_contradicts_the_published_one(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shared("vocabs", "cl100k_base.tiktoken")
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(path.parent))
    for vocab in (str(path), "cl100k_base"):
        for command in ("encode", "count"):
            assert call(command, "-v", vocab, "-p", "llama3", "-t", "x")[2] == (
                f"pretok: warning: {short_path(path)}: the preset 'llama3' splits the text, but "
                "the published vocabulary cl100k_base was trained with 'cl100k'; without a preset, "
                "'cl100k' is chosen\n"
            )
            for preset in ("cl100k", "gpt-4"):
                assert call(command, "-v", vocab, "-p", preset, "-t", "x")[::2] == (0, "")
