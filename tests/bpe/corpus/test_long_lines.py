"""long_json_text finds the text that Python's parser finds, for any division into blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.corpus.long_lines import long_json_text
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import TextFileError
from bpe.text_files import text_of_line
from corpora import JSON_OBJECTS, STRINGS
from support import max_examples, seeded

PARTS = st.lists(st.sampled_from(["\\", '"', "\U0001f600", "中", "x", "\n", "/"]), max_size=40)


def in_blocks(line: bytes, sizes: list[int], max_rest: int = 1 << 20) -> bytes:
    """Return the text of a line that comes in blocks of `sizes` bytes and a last block."""
    blocks, at = [], 0
    for size in [*sizes, len(line)]:
        blocks.append(line[at : at + size])
        at += size
    return b"".join(long_json_text(iter(blocks), "text", "here", max_rest))


@given(
    row=JSON_OBJECTS,
    text=STRINGS.map("".join) | PARTS.map("".join) | st.text(),
    is_ascii=st.booleans(),
    sizes=st.lists(st.integers(0, 20), max_size=30),
    seed=st.integers(),
)
@settings(max_examples=max_examples(1000))
def test_the_text_equals_that_of_pythons_parser(
    row: dict[str, Any], text: str, is_ascii: bool, sizes: list[int], seed: int
) -> None:
    chance = seeded(seed)
    row = {**row, "text": text} if chance.random() < 0.5 else {"text": text, **row}
    try:
        line = json.dumps(row, ensure_ascii=is_ascii).encode()
    except UnicodeEncodeError:  # lone surrogates
        line = json.dumps(row).encode()
    lines = [line]
    for _ in range(10):
        at = chance.randint(0, len(line))
        lines.append(line[:at] + chance.choice([b"", b'"', b"{", b"\\", b"\xff"]) + line[at + 1 :])
    for changed in lines:
        try:
            expected = encode_utf8(text_of_line(changed, "text", "here"))
        except TextFileError:
            with pytest.raises(TextFileError, match="here"):
                in_blocks(changed, sizes)
            continue
        try:
            found = in_blocks(changed, sizes)
        except TextFileError as error:
            is_named_twice = "two members 'text', or a member name with a" in str(error)
            assert is_named_twice
        else:
            assert found == expected


def test_long_lines_that_are_refused() -> None:
    for line, message in (
        (b'{"text": "a", "text": "b"}', "here: this long line has two members 'text'"),
        (rb'{"text": "a", "te\u0078t": ""}', "here: this long line .* a backslash escape; write"),
        (b'{"text": "a', "here: not JSON: a string has no closing quote"),
        (b'{"text": "a"', "here: not JSON"),
        (b'{"text": "a\nb"}', "here: 'text' is not a JSON string"),
        (b'{"other": "' + b"x" * 100 + b'"}', "here: the members besides the text are too long"),
    ):
        with pytest.raises(TextFileError, match="^" + message):
            in_blocks(line, [3] * 50, 60)
    assert in_blocks(b'{"text": "' + b"x" * 100 + b'"}', [3] * 50, 60) == b"x" * 100


def test_parts_are_small() -> None:
    """The parser keeps at most the end of a block for the next part, with any characters."""
    for text in ("\\", '"', "\U0001f600", "中", "\x01", "x"):
        for is_ascii in (False, True):
            line = json.dumps({"text": text * 3000}, ensure_ascii=is_ascii).encode()
            blocks = (line[at : at + 100] for at in range(0, len(line), 100))
            parts = list(long_json_text(blocks, "text", "here", 100))
            assert b"".join(parts) == (text * 3000).encode()
            assert max(map(len, parts)) <= 120
    blocks = (part for part in [b'{"text": "', *[b"\x80" * 100] * 100])
    with pytest.raises(TextFileError, match="is not a JSON string"):
        list(long_json_text(blocks, "text", "here", 100))
