"""Presets give the pre-tokens that were recorded from the engines, and those of `regex`."""

from __future__ import annotations

import base64
import json
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import pytest
import regex
from numpy.typing import NDArray

import pretok
from paths import shared
from pretok.fuzz.engines import engine
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.text import code_points_of
from support import CORE_NAMES, FULL, PRESET_NAMES, atoms_by_code_point, native_missing

SLICE = 200_000 if FULL else 40_000
"""The number of bytes of each file that test_a_part_of_every_text_splits_as_with_regex splits."""


class Case(NamedTuple):
    """A line of a golden file."""

    id: str
    text: str
    tiktoken: list[str]
    hf: list[str]


@cache
def cases(name: str) -> list[Case]:
    lines = shared("golden", f"golden_{name}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) > 1000
    # A row has "hf" only if Hugging Face's tokenizers gave other pre-tokens than tiktoken.
    return [
        Case(row["id"], row["text"], row["pieces"], row.get("hf", row["pieces"])) for row in rows
    ]


@pytest.mark.parametrize(
    ("name", "file", "engine_name"),
    [
        ("gpt2", "r50k", "hf"),
        ("r50k", "r50k", "tiktoken"),
        ("cl100k", "cl100k", "tiktoken"),
        # For cl100k, the files of Hugging Face have the pattern of llama3.
        ("llama3", "cl100k", "hf"),
        ("llama3", "llama3", "tiktoken"),
        ("llama3", "llama3", "hf"),
        ("qwen2", "qwen2", "tiktoken"),
        ("qwen2", "qwen2", "hf"),
        ("o200k", "o200k", "tiktoken"),
        ("o200k", "o200k", "hf"),
    ],
)
def test_a_preset_splits_as_the_engine_did(
    name: str, file: str, engine_name: str, backend: BackendName
) -> None:
    tokenizer = pretok.get(name, backend=backend)
    for case in cases(file):
        expected = case.hf if engine_name == "hf" else case.tiktoken
        assert tokenizer.split(case.text) == expected, f"{name}, golden case {case.id}"


def test_the_golden_cases_distinguish_cl100k_and_llama3() -> None:
    assert sum(case.hf != case.tiktoken for case in cases("cl100k")) == 20


def test_splitting_loses_no_byte_of_the_golden_bytes(backend: BackendName) -> None:
    """Check only that no byte is lost: no engine returns pre-tokens of invalid UTF-8."""
    lines = shared("golden", "golden_bytes.jsonl").read_text().splitlines()
    for data in {base64.b64decode(json.loads(line)["bytes_b64"]) for line in lines}:
        for name in PRESET_NAMES:
            assert b"".join(pretok.get(name, backend=backend).split_bytes(data)) == data


@cache
def compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def text_names() -> list[str]:
    return sorted(path.name for path in shared("texts").glob("*.txt"))


def assert_split_as_regex(name: str, backend: BackendName, text: str, what: str) -> None:
    """Compare with `regex` in its Unicode version, and then in the version of the preset.

    The second comparison leaves out code points whose class differs between the versions.
    """
    newest = engine("regex").unicode(pretok.get(name).preset)
    assert_bounds(pretok.get(name, newest, backend), text, what)
    tokenizer = pretok.get(name, backend=backend)
    changed = atoms_by_code_point(tokenizer.unicode) != atoms_by_code_point(newest)
    points = code_points_of(text)
    same = points[~changed[points]].tobytes().decode("utf-32-le")
    assert_bounds(tokenizer, same, what)


@lru_cache(2)  # both texts of assert_split_as_regex
def bounds_of_matches(pattern: str, text: str) -> NDArray[np.int64]:
    matches = compiled(pattern).finditer(text)
    return np.fromiter((0, *(match.end() for match in matches)), np.int64)


def assert_bounds(tokenizer: PreTokenizer, text: str, what: str) -> None:
    expected = bounds_of_matches(tokenizer.preset.pattern, text)
    assert np.array_equal(tokenizer.offsets(text), expected), f"{what}, {tokenizer.backend}"


@pytest.mark.parametrize("name", CORE_NAMES)
def test_a_part_of_every_text_splits_as_with_regex(name: str) -> None:
    assert len(text_names()) == 15
    backends: list[BackendName] = ["python"] if native_missing() else ["python", "native"]
    for file in text_names():
        path = shared("texts", file)
        with path.open("rb") as stream:
            stream.seek(path.stat().st_size // 3)
            text = stream.read(SLICE).decode("utf-8", "ignore")  # drops sequences cut at the ends
        assert len(text) > 10_000
        for backend in backends:  # the second backend uses the cached matches of `regex`
            assert_split_as_regex(name, backend, text, f"{name}, {file}")


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="takes minutes; set PRETOK_FULL=1 to split all 85 MB")
@pytest.mark.parametrize("name", CORE_NAMES)
def test_every_text_splits_as_with_regex(name: str, backend: BackendName) -> None:
    total = 0
    for file in text_names():
        data = shared("texts", file).read_bytes()
        total += len(data)
        assert_split_as_regex(name, backend, data.decode(), f"{name}, {file}")
    assert total > 80_000_000
