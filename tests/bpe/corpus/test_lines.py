"""JSON lines: the native parser finds the same texts as Python's parser.

It leaves lines that are unusual or damaged to Python's parser.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.corpus.documents import Position, read_batches
from bpe.corpus.lines import JsonLines, TextLines
from bpe.corpus.options import make_options
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import TextFileError
from bpe.text_files import split_lines, text_of_line
from corpora import JSON_OBJECTS, STRINGS, tokenizer
from pretok.machine.backend import BackendName
from support import max_examples, seeded


def expected(line: bytes) -> bytes | None:
    """Return the text that Python's parser finds in a line, or None if it raises an error."""
    try:
        return encode_utf8(text_of_line(line, "text", ""))
    except TextFileError:
        return None


def known(parser: JsonLines, block: bytes) -> list[bytes | None]:
    """Return each line's text, or None for a line that the native parser leaves to Python."""
    texts, is_known = parser.texts(block)
    return [text if is_read else None for text, is_read in zip(texts, is_known, strict=True)]


def check(line: bytes) -> bytes | None:
    """Return the text that the native parser finds, which must be that of Python's parser."""
    (found,) = known(JsonLines("text", 1000), line)
    if found is not None:
        assert found == expected(line)
    return found


@given(
    row=JSON_OBJECTS,
    text=STRINGS.map("".join) | st.text(),
    is_ascii=st.booleans(),
    seed=st.integers(),
)
@settings(max_examples=max_examples(1000))
def test_native_texts_equal_those_of_python(
    native: BackendName, row: dict[str, Any], text: str, is_ascii: bool, seed: int
) -> None:
    row = {**row, "text": text}
    try:
        line = json.dumps(row, ensure_ascii=is_ascii).encode()
    except UnicodeEncodeError:  # lone surrogates
        line = json.dumps(row).encode()
    check(line)
    chance = seeded(seed)
    for _ in range(20):
        at, end = sorted((chance.randint(0, len(line)), chance.randint(0, len(line))))
        changed: Callable[[bytes], bytes] = chance.choice([
            lambda part: b"", lambda part: part * 2, lambda part: part[::-1],
            lambda part: bytes([chance.choice(rb'"\\{}[]:,u0eE+-. ') for _ in part[:3]]),
            lambda part: chance.randbytes(min(len(part), 3)),
        ])  # fmt: skip
        damaged = line[:at] + changed(line[at:end]) + line[end:]
        if b"\n" not in damaged and damaged:
            check(damaged)


PARTS = [
    "\\",
    '"',
    "\n",
    "\t",
    "/",
    "\b",
    "\f",
    "\r",
    "\x01",
    "\u00e9",
    "\u4e16",
    "\U0001f600",
    "abcde",
]
"""Parts of long texts: characters with every kind of escape, and characters without one."""


@given(
    parts=st.lists(st.sampled_from(PARTS) | st.integers(1, 130).map("x".__mul__), max_size=60),
    is_ascii=st.booleans(),
)
@settings(max_examples=max_examples(1000))
def test_long_strings_are_read_whole(native: BackendName, parts: list[str], is_ascii: bool) -> None:
    # The native parser copies 64 bytes at a time, so escapes stand at every place in a block.
    text = "".join(parts)
    line = json.dumps({"text": text}, ensure_ascii=is_ascii).replace("/", "\\/").encode()
    assert check(line) == text.encode()


@pytest.mark.parametrize(
    "escape", [r"\n", r"\\", r"\"", r"\u0041", r"\x", "\x01", "\\\x01", r"\é", "é"]
)
def test_an_escape_at_each_place_of_a_block(native: BackendName, escape: str) -> None:
    is_valid = escape in (r"\n", r"\\", r"\"", r"\u0041", "é")
    for before in range(140):
        line = f'{{"text":"{"x" * before}{escape}{"y" * 200}"}}'.encode()
        assert check(line) == (expected(line) if is_valid else None)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"text": ""}', b""),
        (b' \t{ "a" : [ 1 , -2.5e+3 , { } , [ ] ] , "text" : "x" } \r', b"x"),
        (b'{"text":"first","text":"last"}', b"last"),
        (
            rb'{"text": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}',
            b'"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80',
        ),
        ('{"text": "é中😀 and plain ASCII"}'.encode(), "é中😀 and plain ASCII".encode()),
        (b'{"a": {"text": "inner"}, "text": "x", "b": [true, false, null]}', b"x"),
    ],
)
def test_lines_that_the_native_parser_reads(native: BackendName, line: bytes, text: bytes) -> None:
    assert check(line) == text == expected(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"{}",
        b"[]",
        b'"text"',
        b'{"text": 5}',
        b'{"text": "x"',
        b'{"text": "x"},',
        b'{"text": "x",}',
        b'{"text": "x"} {}',
        b'{"text": "x", "a": 01}',
        b'{"text": "x", "a": 1.}',
        b'{"text": "x", "a": .5}',
        b'{"text": "x", "a": 1e}',
        b'{"text": "x", "a": +1}',
        b'{"text": "x", "a": NaN}',
        b'{"text": "x", "a": tru}',
        b'{"text": "x", "a": [1,]}',
        b'{"text": "x", a: 1}',
        b'{"text": "\x1f"}',
        rb'{"text": "\x"}',
        rb'{"text": "\u12g4"}',
        rb'{"text": "\ud800"}',
        rb'{"text": "\udc00\ud800"}',
        rb'{"text": "\ud800\u0041"}',
        rb'{"te\u0078t": "x"}',
        b'{"text": "\xff"}',
        b'{"text": "\xed\xa0\x80"}',
        b'{"text": "\xc0\x80"}',
        b'{"text": "\xe4\xb8"}',
        b'\xef\xbb\xbf{"text": "x"}',
        b'{"text": "x", "a": ' + b"[" * 100 + b"]" * 100 + b"}",
        b'{"text": "x", "a": ' + b"1" * 5000 + b"}",
    ],
)
def test_lines_that_are_left_to_python(native: BackendName, line: bytes) -> None:
    assert known(JsonLines("text", 1000), line + b"\n") == [None]


def test_all_lines_of_a_block(native: BackendName) -> None:
    parser = JsonLines("é", 1000)
    block = '{"é": "a"}\n\n{"é": "b"}\n{\n{"é": ""}'.encode()
    assert known(parser, block) == [b"a", None, b"b", None, b""]
    assert known(parser, block + b"\n") == known(parser, block)
    assert known(parser, b"\n") == [None]
    assert known(JsonLines("\ud800", 1000), block) == [None] * 5


@given(
    st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", "é".encode(), b"\xff"])).map(b"".join)
)
@settings(max_examples=max_examples(300))
def test_lines_of_text(block: bytes) -> None:
    """The texts of a block are those of its lines, one by one."""
    parser = TextLines()
    lines = split_lines(block)
    texts, is_known = parser.texts(block)
    assert len(texts) == len(is_known) == len(lines)
    if b"\xff" in block:
        assert not is_known.any()
    else:
        assert is_known.all()
        assert list(texts) == [parser.text(line, "") for line in lines]


@pytest.mark.parametrize("text", ["a\n\nb\n\n", "\n\n", "a\n\nb\r"])
def test_reading_continues_within_a_block(tmp_path: Path, text: str) -> None:
    """Blank lines are documents, also if reading begins after the first lines of a block."""
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    expected = text.splitlines()
    for begin in range(len(expected)):
        options = make_options(tokenizer("python"), lines=True, max_text=1000)
        batches = list(read_batches([str(path)], options, Position(0, begin)))
        assert [text.decode() for batch in batches for text in batch.texts] == expected[begin:]
        lines = [line for batch in batches for _, numbers in batch.lines for line in numbers]
        assert lines == list(range(begin + 1, len(expected) + 1))
