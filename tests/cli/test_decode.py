"""The command line: what `pretok decode` prints, and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bpe.cli import main
from command_line import Call, error_of, small_tokenizer
from pretok.cli import input as cli_input
from pretok.machine.backend import BackendName

TEXT = "hello hello\r\n\n  caf\u00e9 \u4e2d\u6587 \U0001f680\t\x1b <think>hell\u00a0"


@pytest.mark.usefixtures("small_blocks")
def test_decode_reads_the_output_of_encode(call: Call, given: list[str]) -> None:
    ids = small_tokenizer().encode(TEXT)
    shown = " ".join(map(str, ids))
    for text in (shown, shown + "\n", json.dumps(ids), json.dumps(ids, indent=1), f" {shown}\r\n",
                 shown.replace(" ", ","), f"[[{shown}],\n []]"):  # fmt: skip
        assert call("decode", *given, stdin=text.encode()) == (0, TEXT, "")
    assert call("decode", *given, "--ids", shown) == (0, TEXT, "")
    for form in ("uint16", "uint32"):
        data = np.array(ids, np.dtype(form).newbyteorder("<")).tobytes()
        assert call("decode", *given, "-f", form, stdin=data) == (0, TEXT, "")


def test_ids_in_a_file(call: Call, given: list[str], tmp_path: Path) -> None:
    path = tmp_path / "ids"
    path.write_text("259\n260", encoding="ascii")
    assert call("decode", *given, str(path)) == (0, "hello hello", "")


@pytest.mark.usefixtures("small_blocks")
def test_each_line_is_a_text(call: Call, given: list[str]) -> None:
    for ids, expected in (
        (b"259 260\n\n257\n", "hello hello\n\nll\n"),
        (b"259  260\r\n\n[257] ", "hello hello\n\nll\n"),
        (b"[259, 260]\n[]\n[257]", "hello hello\n\nll\n"),
        (b"", ""),
        (b"\n", "\n"),
        (b"195\n169", "\ufffd\n\ufffd\n"),
    ):
        assert call("decode", *given, "--lines", "--errors", "replace", stdin=ids)[1] == expected


def test_no_ids_give_an_empty_text(call: Call, given: list[str]) -> None:
    for text in (b"", b"[]\n", b" , "):
        assert call("decode", *given, stdin=text) == (0, "", "")


def test_special_tokens_can_be_left_out(call: Call, given: list[str]) -> None:
    ids = "270 259 271 272 270"
    shown = call("decode", *given, "--ids", ids)[1]
    assert shown == "<|end|>hello<pad><think><|end|>"
    assert call("decode", *given, "--ids", ids, "--skip-special")[1] == "hello<think>"


# --- bytes that are not UTF-8


@pytest.mark.parametrize("block", [1, 4, 64])
def test_bytes_that_are_not_utf8(
    vocab: str,
    backend: BackendName,
    block: int,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(cli_input, "BLOCK", block)
    data = b"a\xc3\xa9\xff\xf0\x9f\x9a\x80\xed\xa0\x80\xe4\xb8"
    path = tmp_path / "ids"
    path.write_text(" ".join(map(str, data)), encoding="ascii")
    given = ["decode", "-v", vocab, "--backend", backend, str(path), "--errors"]
    assert main([*given, "keep"]) == 0
    assert capfdbinary.readouterr().out == data
    assert main([*given, "replace"]) == 0
    assert capfdbinary.readouterr().out == data.decode("utf-8", "replace").encode()
    assert main([*given, "strict"]) == 2
    output, errors = capfdbinary.readouterr()
    assert data.startswith(output)
    assert b"byte 0xff at byte 3 of the decoded text is not UTF-8; pass --errors" in errors


def test_strict_names_the_byte_of_an_incomplete_character(call: Call, given: list[str]) -> None:
    found = error_of(call, "decode", *given, "--errors", "strict", "--ids", "228")
    assert found.startswith("byte 0xe4 at byte 0 of the decoded text is not UTF-8; ")


# --- errors


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("ids", "position", "what"),
    [
        (b"259 x12 3", 4, "'x"),
        (b"259,\n-3", 5, "'-"),
        (b"259 1_0", 4, "'1_"),
        (b"[259, 2.5]", 6, "'2."),
        (b"259 \xff", 4, "'"),
        ("259 \u0661".encode(), 4, "'"),
        (b" " + b"1" * 99 + b" 3", 1, "'111111111111111111111'"),
    ],
)
def test_an_invalid_id_is_named(
    call: Call, given: list[str], ids: bytes, position: int, what: str
) -> None:
    status, output, errors = call("decode", *given, stdin=ids)
    assert status == 2
    assert "hello".startswith(output)
    assert errors.startswith(f"pretok: error: standard input, byte {position}: {what}")
    assert errors.endswith(
        " is not an id; expected decimal numbers separated by white space, commas or brackets\n"
    )
    assert errors.count("\n") == 1


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("lines", [[], ["--lines"]])
@pytest.mark.parametrize("id", ["262", "273", "4294967555", "18446744073709551875", "9" * 20])
def test_an_id_without_a_token_is_named(
    call: Call, given: list[str], id: str, lines: list[str]
) -> None:
    text = f"259 260\n 2,{id}\n257"
    status, output, errors = call("decode", *given, *lines, stdin=text.encode())
    assert status == 2
    assert "hello hello\n\x02".startswith(output.replace("\x02\n", "\x02")) or not lines
    assert errors == (
        f"pretok: error: standard input, byte 11: no token has id {id}; the largest id of "
        "this vocabulary is 272\n"
    )


def test_errors_in_binary_ids(call: Call, given: list[str]) -> None:
    data = np.array([259, 262, 260], "<u2").tobytes()
    errors = error_of(call, "decode", *given, "-f", "uint16", stdin=data)
    assert errors.startswith("standard input, byte 2: no token has id 262; ")
    errors = error_of(call, "decode", *given, "-f", "uint32", stdin=b"\1\0\0")
    assert errors.startswith(
        "standard input, byte 0: the input ends within an id; expected 4 bytes"
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--lines", "-f", "uint16"], "--lines needs --format ids; see 'pretok decode --help'"),
        (["--ids", "1", "file"], "got both FILE and --ids; pass only"),
        (["--errors", "ignore"], "'keep', 'replace', 'strict'"),
        (["no/such/file"], "or the ids themselves with --ids"),
        (["--ids", "1", "--vocab", "no_such_vocabulary"], "no_such_vocabulary"),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(
    call: Call, given: list[str], arguments: list[str], expected: str
) -> None:
    assert expected in error_of(call, "decode", *given, *arguments)
