"""`pretok encode` with the formats of tokens: tokens, jsonl and arrow, and the option --unit."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from typing import get_args

import click
import pytest

from bpe.types import Unit
from command_line import (
    Call,
    environment,
    error_of,
    open_terminal,
    running,
    shown,
    small_tokenizer,
    unescaped,
)
from support import need

TEXT = "hello hello\r\n\n  caf\u00e9 \u4e2d\u6587 \U0001f680\t\x1b <think>hell\u00a0e\u0301"
UNITS: tuple[Unit, ...] = get_args(Unit)


def test_tokens_are_shown_with_their_spans(call: Call, given: list[str]) -> None:
    status, output, errors = call("encode", *given, "-f", "tokens", "-t", TEXT)
    assert (status, errors) == (0, "")
    tokens = small_tokenizer("python").tokens(TEXT)
    assert tokens[0] == (259, b"hello", 0, 5)
    for line, token in zip(output.split("\n"), [*tokens, None], strict=True):
        if token is None:
            assert line == ""
            continue
        assert line.isprintable()
        start, end, id, rest = line.split(maxsplit=3)
        assert (int(id), int(start), int(end)) == (token.id, token.start, token.end)
        assert rest[0] + rest[-1] == '""'
        assert unescaped(rest[1:-1]).encode("utf-8", "surrogateescape") == token.bytes


@pytest.mark.parametrize("unit", UNITS)
def test_every_format_has_the_spans_in_the_unit(call: Call, given: list[str], unit: Unit) -> None:
    options = ("-t", TEXT, "--unit", unit, "-f")
    tokens = small_tokenizer("python").tokens(TEXT, unit=unit)
    lines = call("encode", *given, *options, "tokens")[1].splitlines()
    assert [tuple(map(int, line.split()[:3])) for line in lines] == [
        (token.start, token.end, token.id) for token in tokens
    ]
    rows = list(map(json.loads, call("encode", *given, *options, "jsonl")[1].splitlines()))
    assert rows == [
        {"id": token.id, "start": token.start, "end": token.end, "bytes": token.bytes.hex(),
         "text": token.bytes.decode("utf-8", "replace")}
        for token in tokens
    ]  # fmt: skip


@pytest.mark.parametrize("block", [1, 3, 1 << 16])
def test_arrow(
    vocab: str, block: int, monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:  # fmt: skip
    pyarrow = need("pyarrow")
    from bpe.cli import main

    monkeypatch.setattr("bpe.cli.token_formats.BLOCK", block)
    for text in (TEXT, ""):
        given = ["encode", "-v", vocab, "-t", text, "-f", "arrow", "--unit", "byte"]
        assert main(given) == 0
        table = pyarrow.ipc.open_stream(capfdbinary.readouterr().out).read_all()
        assert [str(kind) for kind in table.schema.types] == ["uint32", "int64", "int64", "binary"]
        expected = small_tokenizer().tokens(text, unit="byte")
        names = ("id", "bytes", "start", "end")
        assert list(zip(*(table[name].to_pylist() for name in names), strict=True)) == expected


def test_more_tokens_than_are_written_at_a_time(
    call: Call, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe.cli.token_formats.BLOCK", 3)
    for count in range(8):
        ids = small_tokenizer("python").encode("x1" * count)
        for form in ("tokens", "jsonl"):
            lines = call("encode", *given, "-t", "x1" * count, "-f", form)[1].splitlines()
            assert len(lines) == len(ids)


def test_neighboring_tokens_have_different_backgrounds(call: Call, given: list[str]) -> None:
    options = ("encode", *given, "-t", "hello hello\n a", "-f", "tokens")
    plain = call(*options, "--no-color")[1]
    assert call(*options)[1] == plain  # the output is a pipe
    colored = call(*options, "--color")[1]
    assert click.unstyle(colored) == plain
    codes = [line.partition('"')[2][: len("\x1b[30m\x1b[46m")] for line in colored.splitlines()]
    assert all(code.startswith("\x1b[30m\x1b[") for code in codes)
    assert all(left != right for left, right in pairwise(codes))
    assert call(*options[:-1], "jsonl", "--color") == call(*options[:-1], "jsonl")


@pytest.mark.parametrize("no_color", ["", "1"])
def test_colors_on_a_terminal(vocab: str, no_color: str) -> None:
    with open_terminal() as terminal:
        call = ["encode", "-v", vocab, "-t", "hello hello", "-f", "tokens"]
        added = environment(NO_COLOR=no_color)
        with running(*call, stdout=terminal[1], env=added) as process:
            output = shown(process, terminal)
    assert b"hello" in output
    assert (b"\x1b[" in output) == (not no_color)


def test_errors(call: Call, given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for form in ("ids", "json", "uint32"):
        message = error_of(call, "encode", *given, "-t", "a", "-f", form, "--unit", "byte")
        assert "--unit needs --format tokens, jsonl or arrow" in message
    for form in ("tokens", "jsonl", "arrow"):
        options = ("encode", *given, "-t", "a", "-f", form)
        assert "cannot be combined with" in error_of(call, *options, "--add-special-tokens")
        assert "--lines needs --format ids or json" in error_of(call, *options, "--lines")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = error_of(call, "encode", *given, "-t", "a", "-f", "arrow")
    assert "--format arrow needs the package pyarrow; run 'pip install pyarrow'" in message
