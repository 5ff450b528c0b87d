"""Tokenizer._safe_cut: the ids of both parts are those of the text, if tokens are text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from pretok.machine.backend import BackendName
from text_models import (
    ADDED,
    CASES,
    FALLBACK,
    LLAMA,
    MARKS,
    SENTENCES,
    WORDS,
    file_of,
    metaspace,
)
from vocabulary_files import write

PLAIN = " ".join(SENTENCES).replace("▁", " ")
TEXTS = [
    PLAIN * 4,
    PLAIN * 4 + " ",
    "the fox " * 90,
    f"{PLAIN}▁the fox",
    f"{PLAIN}<sep> the{PLAIN * 3}",
    "a " * 200 + "<s>" + " the" * 9,
]


SCHEMES: dict[str, dict[str, Any]] = {
    "always": {"normalizer": LLAMA},
    "always, but not before a space": {"pre_tokenizer": metaspace("always", split=False)},
    "first": {"pre_tokenizer": metaspace("first", split=False)},
    "never": {"normalizer": MARKS},
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_prefix_comes_once(scheme: str, tmp_path: Path, native: BackendName) -> None:
    file = file_of(**FALLBACK, **SCHEMES[scheme], **WORDS, added_tokens=ADDED[:1])
    tokenizer = bpe.load(write(tmp_path / "tokenizer.json", file), backend=native)
    # With "always", a second part would begin with a prefix of its own, so no other cut is safe.
    assert (tokenizer._safe_cut(b"ab cd " * 40) == 0) == (scheme == "always")
    assert tokenizer._safe_cut(b"ab cd " * 40, in_parts=True) > 200
    for text in ("ab cd " * 40, "ab  cd ab" * 30, "ab cd" + "é" * 9):
        data = text.encode()
        cut = tokenizer._safe_cut(data)
        assert tokenizer.encode(data[:cut]) + tokenizer.encode(data[cut:]) == tokenizer.encode(data)
        assert ids_of_parts(tokenizer, data, 40) == tokenizer.encode(data)


def ids_of_parts(
    tokenizer: bpe.Tokenizer, data: bytes, size: int, special: bpe.Special = "raise"
) -> list[int]:
    """Return the ids of `data`, in parts for which `size` bytes more are read."""
    parts = []
    held, start = b"", 0
    for at in range(0, len(data), size):
        held += data[at : at + size]
        cut = tokenizer._safe_cut(held, special, in_parts=True)
        parts.append(tokenizer._encode_part(held[:cut], special, is_first=start == 0))
        held, start = held[cut:], start + cut
    parts.append(tokenizer._encode_part(held, special, is_first=start == 0))
    return [int(id) for part in parts for id in part]


@pytest.mark.parametrize("name", CASES)
def test_both_parts_have_the_ids_of_the_text(
    name: str, tmp_path: Path, backend: BackendName
) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[name]))
    # The native backend cannot merge the tokens of all files; None then selects Python.
    tokenizer = bpe.load(path, backend="python" if backend == "python" else None)
    for text in TEXTS:
        data = text.encode()
        expected = tokenizer.encode(data, "allow")
        for end in (len(data), len(data) - 7, len(data) // 2):
            # safe_cut sees only the text up to `end`, but its cut is also safe in the whole text.
            cut = tokenizer._safe_cut(data[:end], "allow")
            ids = tokenizer.encode(data[:cut], "allow") + tokenizer.encode(data[cut:], "allow")
            assert ids == expected, (text, end, cut)
        for size in (7, 64, 300):
            ids = ids_of_parts(tokenizer, data, size, "allow")
            assert ids == expected, (text, size)
