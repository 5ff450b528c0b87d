"""bpe.statistics: words, the tokens of words, and tokens by rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.statistics import compare, ranks, word_spans
from bpe.statistics.ranks import KINDS
from command_line import small_tokenizer
from pretok.machine.backend import BackendName
from support import max_examples

WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’\u200c\u200d]\p{L}[\p{L}\p{M}]*)*")


def spans(text: str) -> list[tuple[int, int]]:
    starts, ends = word_spans(text)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@settings(max_examples=max_examples(200), deadline=None)
@given(st.text(st.sampled_from("aé\u0301'’\u200c\u200d 1_中ก็\ufe0f❤\n"), max_size=20))
def test_words_are_the_matches_of_a_regex(text: str) -> None:
    assert spans(text) == [found.span() for found in WORD.finditer(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("don't 'tis o''clock", ["don't", "tis", "o", "clock"]),
        ("x1 n\u0303o, \u0301 ❤\ufe0f 42", ["x", "n\u0303o"]),
        ("می\u200cخواهم 日本語です。", ["می\u200cخواهم", "日本語です"]),
        ("\U00010400a\ud801b", ["\U00010400a", "b"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in spans(text)] == words


def test_counts_by_hand(backend: BackendName) -> None:
    # small_tokenizer has he, ll, llo, hello, " hello" and é.
    tok = small_tokenizer(backend)
    [row] = compare({"small": tok}, {"a": " hello\u00e9 h, e caf\u00e9"})
    assert row.text_bytes == 19
    assert row.words == 4
    assert row.tokens == len(tok.encode(" hello\u00e9 h, e caf\u00e9"))
    # The tokens of the four words are " hello" and é; h; e; c, a, f and é. Two words are one token.
    assert (row.word_tokens, row.one_token_words) == (8, 2)
    assert row.tokens_per_word == 2
    assert row.one_token_share == 0.5
    assert row.bytes_per_token == 19 / row.tokens


def test_a_character_of_several_tokens_and_special_tokens(backend: BackendName) -> None:
    tok = small_tokenizer(backend)
    rows = compare({"x": tok, "y": tok}, {"a": "中", "b": "<pad>", "c": "12", "d": ""})
    assert [row.vocabulary for row in rows] == ["x", "y"] * 4
    assert [row.text for row in rows[::2]] == ["a", "b", "c", "d"]
    assert [row[2:] for row in rows[::2]] == [
        (3, 3, 1, 3, 0),
        (5, 5, 1, 3, 0),
        (2, 2, 0, 0, 0),
        (0, 0, 0, 0, 0),
    ]
    assert rows[-1].bytes_per_token is rows[-1].tokens_per_word is rows[-1].one_token_share is None


def test_bytes_are_compared_as_they_are(backend: BackendName) -> None:
    tok = small_tokenizer(backend)
    [row] = compare({"x": tok}, {"a": b"hello \xff\xc3"})
    assert row[2:] == (8, 4, 1, 1, 1)
    assert compare({"x": tok}, {"a": "hello \udcff\udcc3"}, errors="surrogateescape") == [row]
    assert compare({"x": tok}, {"a": "\ud800"})[0].text_bytes == len("\ufffd".encode())


@settings(max_examples=max_examples(50), deadline=None)
@given(st.text(st.sampled_from("helo é中'"), max_size=30))
def test_the_tokens_of_words_equal_those_of_the_method_tokens(text: str) -> None:
    tok = small_tokenizer()
    [row] = compare({"x": tok}, {"a": text})
    each = [
        sum(token.start < end and token.end > start for token in tok.tokens(text))
        for start, end in spans(text)
    ]
    assert (row.word_tokens, row.one_token_words) == (sum(each), each.count(1))


def test_tokens_by_rank() -> None:
    tokens = {byte: bytes([byte]) for byte in range(256)}
    new = [b"\xd0\xb0", b"ab", " 中".encode(), b"\xe4\xb8", b"1!", "a中".encode(), "ꓐ".encode()]
    tokens |= dict(enumerate(new, 256))
    result = ranks(bpe.Tokenizer(bpe.Vocabulary(tokens), "gpt2"))
    assert result.ids.tolist() == list(range(263))
    assert result.lengths.tolist() == [1] * 256 + [len(token) for token in new]
    assert [KINDS[kind] for kind in result.kinds[[97, 255, *range(256, 263)]]] == [
        "Latin",
        "incomplete character",
        "Cyrillic",
        "Latin",
        "Han and kana",
        "incomplete character",
        "no script",
        "several scripts",
        "another script",
    ]


def test_special_tokens_have_no_rank() -> None:
    result = ranks(small_tokenizer())
    assert result.ids.tolist() == list(range(262))
    trained = bpe.train(["abab"], vocab_size=300, special_tokens={"<s>": 0})
    assert ranks(trained).ids[-2:].tolist() == [257, 258]
    assert not np.isin(0, ranks(trained).ids)


@pytest.mark.parametrize(
    ("tokenizers", "texts", "match"),
    [
        ({}, ["a"], "^texts is of type list; expected a mapping from names$"),
        ([], {"a": "a"}, "^tokenizers is of type list; expected a mapping from names$"),
        (
            {"a": "gpt2"},
            {},
            r"^tokenizers\['a'\]: expected a bpe.Tokenizer, got str; pass bpe.load",
        ),
    ],
)
def test_arguments_without_names(tokenizers: Any, texts: Any, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        compare(tokenizers, texts)


def test_the_name_of_a_file_is_refused_as_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").touch()
    tok = bpe.train(["x"], vocab_size=256)
    for name in ("a.txt", "*.txt", "./a.txt"):
        with pytest.raises(ValueError, match="pass the content of the files, or pass bytes if it"):
            compare({"mine": tok}, {"text": name})
        assert compare({"mine": tok}, {"text": name.encode()})[0].tokens == len(name)
