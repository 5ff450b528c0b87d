"""Pairs of encodings with equal vocabularies: one of bpe.compat.tiktoken, and one of tiktoken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import pretok
import vocabularies
from bpe.compat.tiktoken import Encoding
from paths import SHARED
from pretok.machine.backend import BackendName

INSTALLED = {"cl100k": "cl100k_base", "o200k": "o200k_base"}
"""The vocabularies that the package bpe-openai contains: our name, and the name there."""

SPECIAL = {name: source.special for name, source in vocabularies.SOURCES.items()}

PARTS = (
    " ", "  ", "\n", "\n\n", "\t", "\r\n", "a", "ab", "hello", " The", "fan", "ta", "'s", "'", "1",
    "234", "!", "...", "#", "é", "e\u0301", "İ", "ſ", "日本", "こんにちは", "👍🏽", "👩\u200d👧",
    "\u00a0", "\u3000", "\u2028", "\u200d", "<|endoftext|>", "<|fim_prefix|>", "<|im_end|>",
    "<|", "|>", "<|endoftext",
)  # fmt: skip
"""Parts of random texts: words, signs, special tokens, and near misses of special tokens."""


def texts(surrogates: bool = False) -> st.SearchStrategy[str]:
    """Return a strategy for texts of PARTS and other code points.

    With `surrogates`, the texts also have surrogates, alone and in pairs.
    """
    others = st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF), max_size=4)
    parts = [st.sampled_from(PARTS), others]
    if surrogates:
        parts.append(st.sampled_from(("\ud83d", "\udc4d", "\ud83d\udc4d", "\udc4d\ud83d")))
    return st.lists(st.one_of(parts), max_size=8).map("".join)


def ranks(name: str) -> dict[bytes, int]:
    """Return the tokens of a real vocabulary.

    Without the shared folder, they come from an installed package, if it has the vocabulary.
    """
    if SHARED is None and name in INSTALLED:
        return vocabularies.installed_ranks(INSTALLED[name])
    return vocabularies.ranks(vocabularies.SOURCES[name].file)


@cache
def ours(name: str, backend: BackendName) -> Encoding:
    """Return the bpe.compat.tiktoken.Encoding with a real vocabulary."""
    return Encoding(name, **_arguments(name), backend=backend)


@cache
def live(name: str) -> Any:
    """Return the tiktoken.Encoding with a real vocabulary."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    return tiktoken.Encoding(name, **_arguments(name))


def _arguments(name: str) -> dict[str, Any]:
    source = vocabularies.SOURCES[name]
    return {
        "pat_str": pretok.get(source.preset).preset.pattern,
        "mergeable_ranks": ranks(name),
        "special_tokens": source.special,
    }


def assert_same(encodings: tuple[Any, Any], call: Callable[[Any], Any]) -> None:
    """Fail unless `call` has equal results for ours and tiktoken's, or equal types of errors."""
    mine, theirs = (_outcome(encoding, call) for encoding in encodings)
    if isinstance(theirs, Exception):
        assert isinstance(mine, type(theirs)), f"tiktoken raises {theirs!r}, bpe gives {mine!r}"
    else:
        assert mine == theirs


def _outcome(encoding: Any, call: Callable[[Any], Any]) -> Any:
    try:
        found = call(encoding)
    except Exception as error:
        return error
    if isinstance(found, np.ndarray):
        return found.dtype, found.tolist()
    return found
