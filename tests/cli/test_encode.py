"""The command line: what `pretok encode` and `pretok count` print, and their errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bpe
from command_line import Call, error_of, small_tokenizer
from pretok.cli import input as cli_input
from pretok.machine.backend import BackendName

TEXT = "hello hello\r\n\n  caf\u00e9 \u4e2d\u6587 \U0001f680\t\x1b <think>hell\u00a0"


# --- encode


def test_known_ids(call: Call, given: list[str]) -> None:
    assert call("encode", *given, "-t", "hello hello") == (0, "259 260\n", "")
    assert call("encode", *given, "-t", "hello hello", "-f", "json") == (0, "[259, 260]\n", "")


@pytest.mark.usefixtures("small_blocks")
def test_a_text_is_encoded_as_a_whole(call: Call, given: list[str]) -> None:
    ids = small_tokenizer("python").encode(TEXT)
    data = TEXT.encode()
    assert call("encode", *given, stdin=data) == (0, " ".join(map(str, ids)) + "\n", "")
    assert call("encode", *given, "-f", "json", stdin=data) == (0, json.dumps(ids) + "\n", "")
    assert call("count", *given, stdin=data) == (0, f"{len(ids)}\n", "")


def test_file_text_and_standard_input_are_the_same(
    call: Call, given: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a\u00e9.txt"
    path.write_bytes(TEXT.encode())
    for command in ("encode", "count"):
        expected = call(command, *given, stdin=TEXT.encode())
        assert expected[0] == 0
        assert call(command, *given, "-", stdin=TEXT.encode()) == expected
        assert call(command, *given, str(path)) == expected
        assert call(command, *given, "--text", TEXT) == expected


def test_more_ids_than_are_written_at_a_time(
    call: Call, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe.cli.encode.BLOCK", 3)
    for count in range(1, 8):
        text = "x1" * count
        ids = small_tokenizer("python").encode(text)
        assert call("encode", *given, "-t", text)[1] == " ".join(map(str, ids)) + "\n"
        assert json.loads(call("encode", *given, "-t", text, "-f", "json")[1]) == ids


@pytest.mark.parametrize("form", ["uint16", "uint32"])
def test_binary_ids(vocab: str, form: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    from bpe.cli import main

    assert main(["encode", "-v", vocab, "-t", TEXT, "-f", form]) == 0
    output = capfdbinary.readouterr().out
    dtype = np.dtype(form).newbyteorder("<")
    assert np.frombuffer(output, dtype).tolist() == small_tokenizer().encode(TEXT)


def test_any_byte_can_be_encoded(call: Call, given: list[str]) -> None:
    data = bytes(range(256)) + TEXT.encode() + "\udcff".encode("utf-8", "surrogatepass")
    expected = small_tokenizer("python").encode(data)
    output = call("encode", *given, "--binary", "-f", "json", stdin=data)[1]
    assert json.loads(output) == expected
    assert call("count", *given, "--binary", stdin=data)[1] == f"{len(expected)}\n"
    rows = call("encode", *given, "--binary", "--lines", stdin=b"\xff\nhello\n\0")[1]
    assert rows == "255\n259\n0\n"


def test_an_empty_text_has_no_ids(call: Call, given: list[str]) -> None:
    for source in ([], ["--text", ""]):
        for form, expected in (("ids", "\n"), ("json", "[]\n"), ("tokens", ""), ("uint16", "")):
            assert call("encode", *given, *source, "-f", form) == (0, expected, "")
        assert call("encode", *given, *source, "--lines") == (0, "", "")
        assert call("count", *given, *source) == (0, "0\n", "")
        assert call("count", *given, *source, "--lines") == (0, "", "")


# --- lines


@pytest.mark.usefixtures("small_blocks")
def test_each_line_is_a_text(call: Call, given: list[str]) -> None:
    data = "hello\r\n hello\n\nh\u00e9\r\r\n\rlast \u4e2d".encode()
    lines = ["hello", " hello", "", "h\u00e9\r", "\rlast \u4e2d"]
    rows = small_tokenizer("python").encode_batch(lines)
    for text, wanted in ((data, rows), (data + b"\n", rows), (data + b"\r\n\n", [*rows, []])):
        output = call("encode", *given, "--lines", stdin=text)[1]
        assert output == "".join(" ".join(map(str, row)) + "\n" for row in wanted)
        output = call("encode", *given, "--lines", "-f", "json", stdin=text)[1]
        assert [json.loads(line) for line in output.splitlines()] == wanted
        output = call("count", *given, "--lines", stdin=text)[1]
        assert output == "".join(f"{len(row)}\n" for row in wanted)


# --- special tokens


def test_options_for_special_tokens(call: Call, given: list[str]) -> None:
    text = "hello<|end|><pad><think>"
    tokenizer = small_tokenizer("python")
    for arguments, ids in (
        (["--special", "allow"], [259, 270, 271, 272]),
        (["--special", "text"], tokenizer.encode(text, "text")),
        (["--allow", "<pad>"], tokenizer.encode(text, {"<pad>"})),
        (["--allow", "<pad>", "--allow", "<|end|>"], [259, 270, 271, 272]),
        (["--special", "allow", "--add-special-tokens"], [270, 259, 270, 271, 272]),
    ):
        shown = " ".join(map(str, ids)) + "\n"
        assert call("encode", *given, "-t", text, *arguments) == (0, shown, "")
        assert call("encode", *given, "--lines", "-t", text, *arguments) == (0, shown, "")
        assert call("count", *given, "-t", text, *arguments) == (0, f"{len(ids)}\n", "")
        assert call("count", *given, "--lines", "-t", text, *arguments)[1] == f"{len(ids)}\n"


@pytest.mark.parametrize(
    "command", [["encode"], ["encode", "-f", "tokens"], ["count", "--special", "raise"]]
)
def test_the_error_for_a_special_token_says_where_it_is(
    call: Call, given: list[str], command: list[str]
) -> None:
    text = "h\u00e9llo \U0001f680\nx<pad><|end|>"
    hint = (
        ": the text has the special token '<pad>'; pass --special text to encode it as ordinary "
        "text, --special allow to encode special tokens as their ids, or --allow TOKEN to allow "
        "only that token"
    )
    assert error_of(call, *command, *given, "-t", text) == f"--text, byte 13{hint}"
    assert error_of(call, *command, *given, stdin=text.encode()) == f"standard input, byte 13{hint}"
    binary = b"\xff" + text.encode()
    found = error_of(call, *command, *given, "--binary", stdin=binary)
    assert found == f"standard input, byte 14{hint}"
    if command[-1] != "tokens":
        found = error_of(call, *command, *given, "--lines", stdin=f"{text}\n".encode())
        assert found == f"standard input, line 2, byte 1{hint}"


def test_the_error_for_a_special_token_counts_lines_of_earlier_blocks(
    call: Call, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_input, "BLOCK", 4)
    status, output, errors = call("encode", *given, "--lines", stdin=b"a\n" * 7 + b"b<pad>\n")
    assert (status, output) == (2, "97\n" * 7)
    assert "standard input, line 8, byte 1: " in errors


# --- count


def test_several_files_are_counted_with_their_total(
    call: Call, given: list[str], tmp_path: Path
) -> None:
    for name, text in (("a", "hello"), ("b\n", "hello hello x"), ("c", "")):
        tmp_path.joinpath(name).write_bytes(text.encode())
    names = [str(tmp_path / name) for name in ("a", "b\n", "c")]
    output = call("count", *given, *names, "-", stdin=b"hello")[1]
    shown = [name.replace("\n", "\\n") for name in names]
    rows = [line.split(maxsplit=1) for line in output.splitlines()]
    assert rows == [["1", shown[0]], ["4", shown[1]], ["0", shown[2]], ["1", "-"], ["6", "total"]]


# --- errors


def test_errors_are_one_line_that_says_what_to_do(call: Call, vocab: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(b"plain \xff")
    (tmp_path / "empty").mkdir()
    for arguments, expected in (
        (["encode", "-t", "x"], "missing option '--vocab' / '-v'; see 'pretok encode --help'"),
        (
            ["encode", "-v", vocab, "-f", "xml"],
            "'uint32', 'tokens', 'jsonl', 'arrow'",
        ),
        (["encode", "-v", vocab, "-f", "tokens", "--lines"], "--lines needs --format ids or"),
        (["encode", "-v", vocab, "-f", "uint32", "--lines"], "--lines needs --format ids or"),
        (
            ["encode", "-v", vocab, "-f", "tokens", "--add-special-tokens"],
            "cannot be combined with",
        ),
        (["encode", "-v", vocab, "--special", "no"], "'raise', 'text', 'allow'"),
        (
            ["encode", "-v", vocab, "--special", "text", "--allow", "<pad>"],
            "pass --special or --allow",
        ),
        (["encode", "-v", vocab, "--allow", "<p>"], "special tokens are '<|end|>', '<pad>'"),
        (["encode", "-v", vocab, "--allow", "<think>"], "--allow '<think>' is not a special token"),
        (["encode", "-v", vocab, "-p", "qwen4"], "unknown preset 'qwen4'; did you mean"),
        (["encode", "-v", vocab, "a", "b"], "cannot open 'a': No such file or directory; pass a"),
        (["encode", "-v", vocab, str(bad)], "byte 6: 0xff is not UTF-8"),
        (["encode", "-v", vocab, "--lines", str(bad)], "byte 6: 0xff is not UTF-8"),
        (["encode", "-v", vocab, str(tmp_path / "none")], "No such file or directory; pass"),
        (["encode", "-v", vocab, "-t", "x", "f"], "got both FILE and --text; pass only"),
        (["count", "-v", vocab, "-t", "x", "f", "g"], "got both FILE and --text; pass only"),
        (["count", "-v", vocab, "--lines", "f", "g"], "--lines takes one FILE"),
        (["count", "-v", vocab, str(tmp_path / "empty")], "empty: no file to read; expected files"),
        (["count", "-v", "no_such_vocabulary", "-t", "x"], "no_such_vocabulary"),
        (["count", "-v", str(tmp_path / "none.json"), "-t", "x"], "none.json"),
        (["count", "-v", str(bad), "-t", "x"], "bad"),
    ):
        assert expected in error_of(call, *arguments)


def test_a_file_that_does_not_say_how_to_split_needs_a_preset(
    call: Call, tmp_path: Path, backend: BackendName
) -> None:
    path = tmp_path / "small.tiktoken"
    small_tokenizer().save(path, lossy=True)
    assert "--preset" in error_of(call, "encode", "-v", str(path), "-t", "hello")
    given = ("-v", str(path), "-p", "gpt2", "--backend", backend)
    assert call("encode", *given, "-t", "hello hello")[1] == "259 260\n"


def test_uint16_needs_ids_that_fit(call: Call, tmp_path: Path) -> None:
    small = small_tokenizer()
    path = tmp_path / "large.json"
    added = [bpe.AddedToken("<far>", 1 << 16)]
    bpe.Tokenizer(small.vocabulary, "cl100k", added_tokens=added).save(path)
    given = ("encode", "-v", str(path), "-t", "hello", "-f")
    assert "has ids up to 65536; use --format uint32" in error_of(call, *given, "uint16")
    assert call(*given, "ids")[1] == "259\n"
