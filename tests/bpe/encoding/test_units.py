"""Spans in each unit: they cover the elements of the text of which the token has a byte."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bpe
from bpe import AddedToken, Tokenizer
from bpe.encoding.offsets import UnitOffsets
from bpe.encoding.utf8 import join_surrogates
from bpe.types import Errors, Text, Unit
from javascript import node
from pretok.machine.backend import BackendName
from pretok.unicode.graphemes import grapheme_starts
from support import seeded
from text_models import CASES, file_of
from vocabulary_files import write

UNITS: tuple[Unit, ...] = get_args(Unit)
PARTS = [
    *"ab é\u0301日क\u094d\r\n▁ﬁ①",
    *("the", "<sep>", "foo", "\r\n", "🇩", "👩\u200d👧", "\ud83d", "\udc27", "  ", "hello"),
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)
DATA = st.lists(
    st.sampled_from([*(part.encode("utf-8", "surrogatepass") for part in PARTS), b"\xff", b"\xe2"]),
    max_size=12,
).map(b"".join)
MODELS = ("llama", "mistral", "forms", "metaspace, tokens", "precompiled", "byte level")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("units")


@cache
def models(folder: Path, backend: BackendName) -> list[Tokenizer]:
    # The native backend cannot merge the tokens of all files; None then selects Python.
    chosen: BackendName | None = "python" if backend == "python" else None
    vocabulary = bpe.train(["the foo é hello ab"] * 3, vocab_size=290).vocabulary
    added = [AddedToken("<sep>", 900, False, lstrip=True), AddedToken("ab", 901, False)]
    return [
        Tokenizer(vocabulary, "gpt2", added_tokens=added, normalizer="NFC", backend=chosen),
        Tokenizer(vocabulary, "gpt2", trim_offsets=(True,), add_prefix_space=True, backend=chosen),
        *(
            bpe.load(write(folder / f"{name}.json", file_of(**CASES[name])), backend=chosen)
            for name in MODELS
        ),
    ]


def elements(text: Text, errors: Errors, unit: Unit) -> Iterator[tuple[int, int]]:
    """Yield the size in bytes and in `unit` of each code point, or of each grapheme."""
    if not isinstance(text, str):
        text, errors = bytes(text).decode("utf-8", "surrogateescape"), "surrogateescape"
    if unit == "grapheme":
        joined = join_surrogates(text) if errors == "replace" else text
        for start, end in pairwise([*grapheme_starts(joined).tolist(), len(joined)]):
            yield sum(size for size, _ in elements(joined[start:end], errors, "byte")), 1
        return
    at = 0
    while at < len(text):
        char = text[at]
        width = 1
        if errors == "replace":
            is_pair = "\ud800" <= char < "\udc00" and "\udc00" <= text[at + 1 : at + 2] < "\ue000"
            width += is_pair
            char = join_surrogates(text[at : at + width])
        at += width
        data = char.encode("utf-8", errors)
        yield len(data), {"char": width, "byte": len(data), "utf16": 1 + (char > "\uffff")}[unit]


def converted(
    text: Text, errors: Errors, unit: Unit, spans: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return spans of bytes in `unit`, by looking at each byte."""
    starts, ends = [], []
    total = 0
    for size, width in elements(text, errors, unit):
        exact = unit == "byte"
        starts += [total + at if exact else total for at in range(size)]
        ends += [total + at + 1 if exact else total + width for at in range(size)]
        total += width
    starts.append(total)
    return [
        (starts[start], ends[end - 1] if end > start else starts[start]) for start, end in spans
    ]


def check(tokenizer: Tokenizer, text: Text, errors: Errors) -> None:
    in_bytes = [
        (token.start, token.end)
        for token in tokenizer.tokens(text, "allow", errors=errors, unit="byte")
    ]
    for unit in UNITS:
        ids, starts, ends = tokenizer.token_spans(text, "allow", errors=errors, unit=unit)
        assert ids.tolist() == tokenizer.encode(text, "allow", errors=errors)
        found = list(zip(starts.tolist(), ends.tolist(), strict=True))
        assert found == converted(text, errors, unit, in_bytes), (tokenizer, unit)
    default: Unit = "char" if isinstance(text, str) else "byte"
    expected = tokenizer.tokens(text, "allow", errors=errors, unit=default)
    assert tokenizer.tokens(text, "allow", errors=errors) == expected


def test_every_model(folder: Path, backend: BackendName) -> None:
    text = "".join(PARTS)
    for tokenizer in models(folder, backend):
        check(tokenizer, text, "replace")
        check(tokenizer, text.encode("utf-8", "surrogatepass") + b"\xff\xcc", "replace")


@given(TEXTS, st.sampled_from(get_args(Errors)), st.integers(0, len(MODELS) + 1))
@example("\ud83d\udc27 \ud83d e\u0301", "replace", 0)
@example("\udcff\u0301", "surrogateescape", 2)
def test_units_of_str(
    folder: Path, backend: BackendName, text: str, errors: Errors, model: int
) -> None:
    try:
        text.encode("utf-8", "surrogatepass" if errors == "replace" else errors)
    except UnicodeEncodeError:
        errors = "replace"
    check(models(folder, backend)[model], text, errors)


@given(DATA, st.integers(0, len(MODELS) + 1))
@example(b"\xff\xcc\x81e\xcc\x81\r\n", 0)
def test_units_of_bytes(folder: Path, backend: BackendName, data: bytes, model: int) -> None:
    tokenizer = models(folder, backend)[model]
    check(tokenizer, data, "replace")
    expected = tokenizer.tokens(data, "allow", unit="utf16")
    for given_data in (bytearray(data), memoryview(data)):
        assert tokenizer.tokens(given_data, "allow", unit="utf16") == expected


@pytest.mark.parametrize("unit", UNITS)
def test_ids_of_the_template_are_at_both_ends(unit: Unit, backend: BackendName) -> None:
    vocabulary = bpe.train([], vocab_size=256).vocabulary
    template = bpe.Template((0,), (1, 2))
    tokenizer = Tokenizer(vocabulary, "gpt2", template=template, backend=backend)
    text = "é👩\u200d👧\ud83d\udc27\ud83d"
    size = {"char": 7, "byte": 20, "utf16": 9, "grapheme": 4}[unit]
    for given_text in (
        text,
        text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
    ):
        if given_text is not text and unit == "char":
            size -= 1  # the surrogate pair is one code point
        first, *_, second_to_last, last = tokenizer.tokens(
            given_text, unit=unit, add_special_tokens=True
        )
        assert first[2:] == (0, 0)
        assert second_to_last[2:] == last[2:] == (size, size)


SLICES = """
const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
const segments = new Intl.Segmenter("en", { granularity: "grapheme" });
const graphemes = (text) => [...segments.segment(text)].map((found) => found.segment);
console.log(JSON.stringify(rows.map(([text, spans, graphemeSpans]) => [
  spans.map(([start, end]) => text.slice(start, end)),
  graphemeSpans.map(([start, end]) => graphemes(text).slice(start, end).join("")),
])));
"""


def test_slices_in_javascript() -> None:
    """Slice by UTF-16 offsets and by graphemes, which have no rules that old Nodes lack here."""
    tokenizer = Tokenizer(bpe.train(["日本 क\u094d"], vocab_size=268).vocabulary, "gpt2")
    random = seeded("javascript")
    parts = ["naïve ", "日本 ", "👩\u200d👧", "🇩🇪", "नि ", "\r\n", "e\u0301", "안녕", "𝒳"]
    texts = ["".join(random.choices(parts, k=random.randrange(9))) for _ in range(100)]
    tokens = {
        unit: [tokenizer.tokens(text, unit=unit) for text in texts]
        for unit in ("char", "utf16", "grapheme")
    }
    spans = {unit: [[token[2:] for token in row] for row in rows] for unit, rows in tokens.items()}
    rows = list(zip(texts, spans["utf16"], spans["grapheme"], strict=True))
    done = subprocess.run(
        [node(), "-e", SLICES], input=json.dumps(rows), capture_output=True, text=True, check=True
    )
    for text, in_chars, (slices, clusters) in zip(
        texts, spans["char"], json.loads(done.stdout), strict=True
    ):
        assert slices == [text[start:end] for start, end in in_chars]
        bounds = [*grapheme_starts(text).tolist(), len(text)]
        assert clusters == [
            text[max(at for at in bounds if at <= start) : min(at for at in bounds if at >= end)]
            for start, end in in_chars
        ]


def test_unknown_units_are_refused(backend: BackendName) -> None:
    tokenizer = Tokenizer(bpe.train([], vocab_size=256).vocabulary, "gpt2", backend=backend)
    wrong: list[Any] = ["chars", "", 3, [], b"byte"]
    for unit in wrong:
        with pytest.raises(ValueError, match=r"unknown unit .*; expected one of 'char', 'byte'"):
            tokenizer.tokens("", unit=unit)
    with pytest.raises(TypeError, match="expected str or bytes"):
        tokenizer.tokens(10**12, unit="char")  # type: ignore[arg-type]


def test_offsets_of_a_long_text_are_converted_at_once() -> None:
    text = "naïve 👩\u200d👧 日本\r\n" * 20_000
    offsets = UnitOffsets(text, "replace", "grapheme")
    size = len(text.encode())
    assert offsets.size == offsets.ends(np.array([size]))[0] == 20_000 * 11
