"""Vocabularies of vocab.json and merges: C++ builds what Python builds, or leaves it to Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import AddedToken, BpeError, Vocabulary
from bpe.byte_level import to_text
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.formats import gpt2, json_value
from bpe.formats.bpe_model import ListedMerges, ListedModel, build
from bpe.formats.huggingface import _pairs
from bpe.formats.json_value import Value
from bpe.formats.native_readers import native_vocabulary, open_native
from paths import shared
from pretok.machine.backend import BackendName
from support import max_examples

BYTES = {to_text(bytes([byte])): byte for byte in range(256)}
PLAIN = {**BYTES, "ab": 256, "abc": 257, "\u0120a": 258, "\u0120ab": 259, "\u00c3\u00a9": 260}
MERGES = ["a b", ["ab", "c"], "\u0120 a", ("\u0120a", "b"), "\u0120 ab", "\u00c3 \u00a9"]
# Entries that are empty, hold lone surrogates, or are not in the characters of ByteLevel.
ODD = [" ", "a b", "\u4e2d", "\u0400", "\U0001f600", "\ud800", "a\udc00", "", "\x01", "\u00e9"]
TEXTS = st.one_of(st.sampled_from([*list(PLAIN)[97:100], *list(PLAIN)[256:], *ODD]), st.text())
IDS = st.one_of(
    st.integers(-1, 300),
    st.integers(0, 1 << 25),
    st.sampled_from([1 << 70, -(1 << 70), True, 97.0, None]),
)
A_MERGE = st.one_of(
    st.sampled_from(MERGES),
    st.tuples(TEXTS, TEXTS),
    st.lists(TEXTS, max_size=3),
    st.tuples(TEXTS, TEXTS).map(" ".join),
    st.sampled_from([None, 1, "ab", "a b c", " ", "a ", " b", [1, "a"]]),
)


def made(backend: str, vocab: dict[str, Any], merges: list[Any], *others: Any) -> Vocabulary | str:
    """Return the vocabulary, or the type and message of the error."""
    # Merges of a merges.txt are tuples; merges of a tokenizer.json are lists or str.
    file = Value([list(one) if type(one) is tuple else one for one in merges], "merges")
    listed = ListedMerges(lambda: _pairs(file), lambda index: f"merges[{index}]")
    try:
        found = native_made(vocab, merges, *others) if backend == "native" else None
        return found or build(ListedModel(Value(vocab, "vocab"), listed, *others))
    except BpeError as error:
        return f"{type(error).__name__}: {error}"


def native_made(
    vocab: dict[str, Any],
    merges: list[Any],
    ignore_merges: bool = False,
    added: Sequence[AddedToken] = (),
) -> Vocabulary | None:
    """Return the vocabulary that C++ makes of a tokenizer.json, or None if it leaves it to Python.

    C++ makes a TextVocabulary if the tokens cannot be bytes; then the result is None too.
    """
    model = {"vocab": vocab, "merges": merges, "ignore_merges": ignore_merges}
    file = open_native(json.dumps({"model": model}).encode())
    if file is None:
        return None
    found = native_vocabulary(file, added, ends_byte_level=True)
    return None if isinstance(found, TextVocabulary) else found


def native_makes(vocab: dict[str, Any], merges: list[Any]) -> bool:
    """Return whether C++ builds the vocabulary itself."""
    return native_made(vocab, merges) is not None


@given(
    more=st.dictionaries(TEXTS, IDS, max_size=4),
    without=st.lists(st.sampled_from(list(PLAIN)), max_size=1),
    merges=st.lists(A_MERGE, max_size=8),
    added=st.lists(
        st.builds(
            AddedToken,
            TEXTS.filter(bool),
            st.one_of(st.integers(95, 262), st.sampled_from([-1, 1 << 70])),
            special=st.booleans(),
        ),
        max_size=3,
    ),
    ignore_merges=st.booleans(),
)
@settings(max_examples=max_examples(2000))
def test_native_equals_python_for_any_vocabulary(
    native: BackendName,
    more: dict[str, Any],
    without: list[str],
    merges: list[Any],
    added: list[AddedToken],
    ignore_merges: bool,
) -> None:
    vocab: dict[str, Any] = {**PLAIN, **more}
    for text in without:
        vocab.pop(text, None)
    asked = (vocab, merges, ignore_merges, added)
    assert made("native", *asked) == made("python", *asked)


@pytest.mark.parametrize("merges", [MERGES, MERGES[::-1], MERGES * 2, []])
def test_plain_is_made_natively(native: BackendName, merges: list[Any]) -> None:
    assert native_makes(PLAIN, merges)
    found = made("native", PLAIN, merges)
    assert isinstance(found, Vocabulary)
    assert found == made("python", PLAIN, merges)
    assert found.merges is not None
    assert len(found.merges) == len(merges)
    assert found.token_bytes[259] == b" ab"


@pytest.mark.parametrize("name", ["gpt2", "qwen2"])
def test_real_files_are_made_natively(native: BackendName, name: str) -> None:
    vocab = json_value.parse(shared("vocabs", f"{name}_vocab.json").read_bytes()).value
    pairs, _ = gpt2.parse_merges(shared("vocabs", f"{name}_merges.txt").read_bytes())
    joined = [" ".join(pair) for pair in pairs]
    assert native_makes(vocab, joined)
    ours = made("native", vocab, joined)
    assert made("native", vocab, pairs) == ours
    assert made("python", vocab, joined) == ours
