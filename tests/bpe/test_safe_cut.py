"""Tokenizer.safe_cut: the ids of both parts are those of the text, if tokens are text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe.characters.text_vocabulary import BYTE_NAMES
from pretok.machine.backend import BackendName
from text_models import (
    ADDED,
    CASES,
    FALLBACK,
    LLAMA,
    MARKS,
    SENTENCES,
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


# Spaces only begin tokens, so safe_cut finds cuts between words.
WORDS = ["a", "b", "c", "d", "ab", "cd", "▁ab", "▁cd", "▁▁"]
VOCABULARY = {token: id for id, token in enumerate(["<unk>", *BYTE_NAMES, "▁", *WORDS])}
MERGES = [["a", "b"], ["▁", "ab"], ["c", "d"], ["▁", "cd"], ["▁", "▁"]]
SCHEMES: dict[str, dict[str, Any]] = {
    "always": {"normalizer": LLAMA},
    "always, but not before a space": {"pre_tokenizer": metaspace("always", split=False)},
    "first": {"pre_tokenizer": metaspace("first", split=False)},
    "never": {"normalizer": MARKS},
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_prefix_comes_once(scheme: str, tmp_path: Path, native: BackendName) -> None:
    file = file_of(
        **FALLBACK,
        **SCHEMES[scheme],
        added_tokens=ADDED[:1],
        model_vocab=VOCABULARY,
        model_merges=MERGES,
    )
    tokenizer = bpe.load(write(tmp_path / "tokenizer.json", file), backend=native)
    # With "always", a second part would begin with a prefix of its own, so no other cut is safe.
    assert (tokenizer.safe_cut(b"ab cd " * 40) == 0) == (scheme == "always")
    for text in ("ab cd " * 40, "ab  cd ab" * 30, "ab cd" + "é" * 9):
        data = text.encode()
        cut = tokenizer.safe_cut(data)
        assert tokenizer.encode(data[:cut]) + tokenizer.encode(data[cut:]) == tokenizer.encode(data)


@pytest.mark.parametrize("name", CASES)
def test_both_parts_have_the_ids_of_the_text(
    name: str, tmp_path: Path, backend: BackendName
) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[name]))
    # The native backend cannot merge the tokens of all files; None then selects Python.
    tokenizer = bpe.load(path, backend="python" if backend == "python" else None)
    for text in TEXTS:
        data = text.encode()
        for end in (len(data), len(data) - 7, len(data) // 2):
            # safe_cut sees only the text up to `end`, but its cut is also safe in the whole text.
            cut = tokenizer.safe_cut(data[:end], "allow")
            ids = tokenizer.encode(data[:cut], "allow") + tokenizer.encode(data[cut:], "allow")
            assert ids == tokenizer.encode(data, "allow"), (text, end, cut)
