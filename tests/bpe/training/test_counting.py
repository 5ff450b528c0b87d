"""Cutting texts and counting their pre-tokens, called words: blocks and threads change nothing."""

from __future__ import annotations

from collections import Counter
from typing import cast

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pretok
from bpe.training import corpus, counting
from bpe.training.corpus import read_texts
from bpe.training.counting import text_counter
from pretok import Groups, Literal
from pretok.charsets import ANY, LETTER
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import native_machine
from strategies import any_rules
from support import SOME_NAMES, TOO_MUCH, growth, max_examples, seeded

HOSTILE = ("a", " ", "  ", "\n", "\r\n", "\t ", "'", "'ll", "'S", "1", "12", "é", "中", "😀",
           "\u0301", "A", "Ab", "aB", "_", "!", "/", "\u3000", "\u00a0", "ſ")  # fmt: skip
some_text = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=3), max_size=60).map("".join)
some_bytes = st.binary(max_size=12) | some_text.map(lambda text: text.encode("utf-8", "replace"))


def words_of(
    texts: list[bytes | str], name: str, backend: BackendName, threads: int | None = None
) -> list[tuple[bytes, int]]:
    """Return the words of texts with their counts, as training counts them."""
    counter = text_counter(pretok.get(name, backend=backend), backend, threads)
    for _, item in read_texts(texts, "text", backend=backend):
        if isinstance(item, list):
            counter.add(item)
        else:
            counter.add_blocks(item)
    return counter.finish().take()


def expected_words(texts: list[bytes], name: str) -> list[tuple[bytes, int]]:
    """Return the words and their counts in the order of first appearance."""
    tokenizer = pretok.get(name)
    return list(Counter(word for text in texts for word in tokenizer.split_bytes(text)).items())


def safe_cut(tokenizer: pretok.PreTokenizer, data: bytes) -> int:
    """Return the offset in bytes where C++ would cut a text that begins with `data`."""
    from pretok import _core

    return _core.safe_cut(cast(_core.Machine, native_machine(tokenizer)), data)


@pytest.mark.parametrize("name", SOME_NAMES)
@given(data=st.lists(some_bytes, max_size=5).map(b"".join), more=some_bytes)
@settings(max_examples=max_examples(60))
def test_a_cut_is_safe_whatever_follows(
    name: str, native: BackendName, data: bytes, more: bytes
) -> None:
    tokenizer = pretok.get(name, backend=native)
    cut = safe_cut(tokenizer, data)
    assert 0 <= cut <= len(data)
    whole = tokenizer.split_bytes(data + more)
    apart = tokenizer.split_bytes(data[:cut]) + tokenizer.split_bytes(data[cut:] + more)
    assert whole == apart


@given(rules=any_rules, data=st.lists(some_bytes, max_size=5).map(b"".join), more=some_bytes)
# Here the end of the first part ends a pre-token. In the whole text, a gap (text that no rule
# matches) continues there.
@example(rules=[(Groups(LETTER, 1, 1, ANY), ""), (Literal("a"), "")], data=b"\0Aa\0", more=b"")
@settings(max_examples=max_examples(1000))
def test_a_cut_is_safe_with_any_rules(
    native: BackendName, rules: list[tuple[pretok.Rule, str]], data: bytes, more: bytes
) -> None:
    preset = pretok.Preset("random", tuple(rule for rule, _ in rules))
    tokenizer = pretok.PreTokenizer(preset, backend=native)
    cut = safe_cut(tokenizer, data)
    apart = tokenizer.split_bytes(data[:cut]) + tokenizer.split_bytes(data[cut:] + more)
    assert tokenizer.split_bytes(data + more) == apart


def test_cuts_are_near_the_end(native: BackendName) -> None:
    text = "The quick brown fox, 12 times.\n" * 200
    for name in SOME_NAMES:
        tokenizer = pretok.get(name, backend=native)
        assert safe_cut(tokenizer, text.encode()) > len(text) - 40
        assert safe_cut(tokenizer, b"") == 0


@given(texts=st.lists(some_bytes, max_size=8), threads=st.sampled_from([None, 1, 2, 5]))
@settings(max_examples=max_examples(100))
def test_words_come_in_order_of_first_appearance(
    backend: BackendName, texts: list[bytes], threads: int | None
) -> None:
    for name in ("gpt2", "o200k"):
        assert words_of([*texts], name, backend, threads) == expected_words(texts, name)


@pytest.mark.parametrize("threads", [1, 2, 5, 1000])
def test_threads_change_nothing(
    threads: int, native: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BATCH", 3 << 20)
    monkeypatch.setattr(counting, "WORTH_A_THREAD", 1)
    chance = seeded(5)
    vocabulary = [
        "".join(chance.choices("abcdeé中 \n", k=chance.randint(1, 9))) for _ in range(5000)
    ]
    text = " ".join(chance.choices(vocabulary, k=700_000))
    texts: list[bytes | str] = [text, *text[:40_000].split("\n"), text[:100_000]]
    as_bytes = [item.encode() if isinstance(item, str) else item for item in texts]
    assert words_of(texts, "cl100k", native, threads) == expected_words(as_bytes, "cl100k")


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
@given(text=st.lists(some_text, max_size=5).map("".join), is_str=st.booleans())
@settings(max_examples=max_examples(40))
def test_blocks_change_nothing(block: int, backend: BackendName, text: str, is_str: bool) -> None:
    data = text.encode("utf-8", "replace") + (b"" if is_str else b"\xe4\xb8 \xff")
    source = data.decode() if is_str else data
    before, corpus.BLOCK = corpus.BLOCK, block
    try:
        found = words_of([source], "llama3", backend)
    finally:
        corpus.BLOCK = before
    assert found == expected_words([data], "llama3")


def test_surrogates_are_joined_or_replaced(
    backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\ud83d\ude00 x\ud83d y\ude00 \ud83d\ude00"
    clean = "\U0001f600 x\ufffd y\ufffd \U0001f600".encode()
    assert words_of([text], "gpt2", backend) == expected_words([clean], "gpt2")
    monkeypatch.setattr(corpus, "BLOCK", 1)
    assert words_of([text], "gpt2", backend) == expected_words([clean], "gpt2")


class Spaces:
    """A pre-tokenizer object, as a user may write it: it splits a str, at code points."""

    def offsets(self, text: str, /) -> NDArray[np.int64]:
        ends = [at for at, char in enumerate(text) if char == " " and at]
        return np.array([0, *ends, len(text)] if text else [0])


def test_words_of_a_pre_tokenizer_object(backend: BackendName) -> None:
    counter = text_counter(Spaces(), backend, None)
    counter.add(["né né x".encode(), b"", b"x \xff\xff"])
    counter.add_blocks(iter([b" ", b"x n\xc3", b"\xa9 \xff\xff"]))
    assert counter.finish().take() == [
        ("né".encode(), 1),
        (" né".encode(), 2),
        (b" x", 2),
        (b"x", 1),
        (b" \xff\xff", 2),
    ]


def test_one_long_pre_token_is_read_in_linear_time(backend: BackendName) -> None:
    def work(size: int) -> None:
        counter = text_counter(pretok.get("cl100k", backend=backend), backend, 1)
        counter.add_blocks(b"a" * 100 for _ in range(size // 100))
        assert counter.finish().take() == [(b"a" * size, 1)]

    assert growth(work, 20_000 if backend == "python" else 200_000) < TOO_MUCH
