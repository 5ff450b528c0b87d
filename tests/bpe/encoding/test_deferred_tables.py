"""The tables that only fast merging needs are made for a long text, once; ids are the same."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any
from weakref import ref

import pytest

import bpe
from bpe import SpecialTokenError, Tokenizer, Vocabulary, VocabularyError
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.formats import huggingface as json_format
from bpe.formats.json_value import Value
from bpe.formats.pretok_file import dump
from bpe.token_facts import TokenType
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, merges_of, model, normal
from text_models import CASES, file_of
from vocabulary_files import huggingface, made_vocabulary, write

pytest.importorskip("pretok._core", reason="the tables are for C++ only")

MAX_FIRST = 2048
"""The number of code units of all texts that are encoded without the tables."""

ROWS = [
    UNKNOWN,
    ("<s>", 0.0, TokenType.CONTROL),
    *BYTES,
    ("<sep>", 0.0, TokenType.USER_DEFINED),
    *normal("ab", "▁ab", "abab", "▁a", "éb", "▁", "a", "b", "é"),
    ("▁▁", -1e9, TokenType.NORMAL),
]
TEXTS = [
    "",
    "ab",
    " abab  ab",
    "\u2581ab",
    "x\u6f22\U0001f600\ud800é",
    "é<sep>ab ab",
    "<s>ab",
    "\x00",
]


pytestmark = pytest.mark.usefixtures("first_texts")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a SentencePiece model."""
    return write(tmp_path / "tokenizer.model", model(ROWS, BYTE_FALLBACK, [(3, 1), (4, 0)]))


def load(path: Path, backend: BackendName | None = None) -> Tokenizer:
    """Return a new tokenizer."""
    return bpe.load(path, backend=backend)


def is_made(tokenizer: Tokenizer) -> bool:
    from pretok import _core

    backend = tokenizer._pipeline.backend
    assert isinstance(backend, _core.Tokenizer)
    return backend.has_all_tables


def test_only_a_long_text_needs_merges(path: Path) -> None:
    tokenizer = load(path)
    encode = tokenizer.encode  # keeps the calls of before
    texts = [text for text in TEXTS if "\ud800" not in text]
    expected = [load(path, "python").encode(text, "text") for text in texts]
    assert [encode(text, "text") for text in texts] == expected
    assert [tokenizer.encode_array(text, "text").tolist() for text in texts] == expected
    assert [tokenizer.count(text, "text") for text in texts] == list(map(len, expected))
    assert not is_made(tokenizer)
    assert len(encode("ab" * MAX_FIRST)) > 1
    assert is_made(tokenizer)
    assert [encode(text, "text") for text in texts] == expected
    assert tokenizer.encode_batch(texts, "text") == expected
    # Other tokenizers of the vocabulary make all tables at once.
    again = Tokenizer(
        tokenizer.vocabulary,
        tokenizer.pre_tokenizer,
        normalizer=tokenizer.normalizer,
        decoder=tokenizer.decoder,
    )
    assert is_made(again)
    assert again.encode("abab") == tokenizer.encode("abab")


def test_many_short_texts_need_merges(path: Path) -> None:
    expected = load(path, "python").encode("abab")
    tokenizer = load(path)
    for _ in range(MAX_FIRST // 4):
        tokenizer.encode("abab")
    assert not is_made(tokenizer)
    assert tokenizer.encode("abab") == expected
    assert is_made(tokenizer)


@pytest.mark.parametrize("text", TEXTS)
def test_all_calls_are_equal(path: Path, text: str) -> None:
    """Each call is the first call of a new tokenizer."""
    expected = load(path, "python")
    ids = expected.encode(text, "allow")
    assert load(path).encode(text, "allow") == ids
    assert load(path).encode_array(text, "allow").tolist() == ids
    assert load(path).count(text, "allow") == len(ids)
    assert load(path).encode_batch([text], "allow") == [ids]
    assert load(path).tokens(text, "allow") == expected.tokens(text, "allow")
    assert load(path).decode(ids) == expected.decode(ids)
    assert load(path).merge(b"abab") == expected.merge(b"abab")
    data = text.encode("utf-8", "replace")
    assert load(path).encode(data, "allow") == expected.encode(data, "allow")
    assert pickle.loads(pickle.dumps(load(path))).encode(text, "allow") == ids
    tokenizer = load(path)
    assert tokenizer.cache_bytes >= 0
    tokenizer.trim()
    assert tokenizer.encode(text, "allow") == ids
    assert not is_made(tokenizer)


def ranks() -> Vocabulary:
    return Vocabulary(made_vocabulary().token_bytes)


FILES: dict[str, Callable[[], bytes | dict[str, Any]]] = {
    "bytes.json": huggingface,
    "whole.json": lambda: huggingface(model_ignore_merges=True),
    "text.json": lambda: file_of(**CASES["llama"]),
    "ranks.pretok": lambda: dump(Tokenizer(ranks(), "gpt2").to_spec()),
    "bytes.pretok": lambda: dump(json_format.read(Value(huggingface(), ""))),
}


@pytest.mark.parametrize("name", FILES)
def test_other_files(name: str, tmp_path: Path) -> None:
    file = FILES[name]()
    path = write(tmp_path / name, file)
    expected = load(path, "python")
    tokenizer = load(path)
    special = [*expected.special_tokens][:1]
    texts = [*TEXTS, "abcab c", "hello ABC", *special, "".join(special) + "ab"]
    for text in texts:
        ids = expected.encode(text, "allow")
        assert tokenizer.encode(text, "allow") == ids
        assert tokenizer.count(text, "text") == expected.count(text, "text")
        assert tokenizer.decode(ids) == expected.decode(ids)
        assert tokenizer.decode_bytes(ids) == expected.decode_bytes(ids)
    assert not is_made(tokenizer)
    long = "".join(texts[:6]) * MAX_FIRST
    assert tokenizer.encode(long, "allow") == expected.encode(long, "allow")
    assert is_made(tokenizer)
    for text in texts:
        ids = expected.encode(text, "allow")
        assert tokenizer.encode(text, "allow") == ids
        assert tokenizer.decode(ids) == expected.decode(ids)
    assert tokenizer == expected
    assert tokenizer.merges == expected.merges


def test_refused_tokens(path: Path) -> None:
    tokenizer = load(path)
    with pytest.raises(SpecialTokenError) as first:
        tokenizer.encode("ab<s>")
    assert not is_made(tokenizer)
    tokenizer.encode_batch([])
    assert is_made(tokenizer)
    with pytest.raises(SpecialTokenError) as later:
        tokenizer.encode("ab<s>")
    assert str(first.value) == str(later.value)


def test_a_character_without_a_piece(tmp_path: Path) -> None:
    """No list of merges has this character, so C++ merges by the scores."""
    rows = [row for row in ROWS if row[0] != "é"]
    data = model(rows, BYTE_FALLBACK, [(3, 1), (4, 0)])
    path = write(tmp_path / "tokenizer.model", data)
    expected = bpe.load(path, backend="python")
    tokenizer = bpe.load(path)
    for text in ("éb é  ab    ", "éb é  ab    " * MAX_FIRST, "b    éé"):
        assert tokenizer.encode(text) == expected.encode(text)
    assert is_made(tokenizer)
    assert isinstance(tokenizer.vocabulary, CharacterVocabulary)
    assert merges_of(tokenizer.vocabulary) is None
    assert Tokenizer(
        tokenizer.vocabulary,
        tokenizer.pre_tokenizer,
        normalizer=tokenizer.normalizer,
        decoder=tokenizer.decoder,
    ).encode("éb  é") == expected.encode("éb  é")


def test_errors_come_at_loading(tmp_path: Path) -> None:
    twice = model([*ROWS, ("ab", -50.0, TokenType.NORMAL)], BYTE_FALLBACK, [(3, 1), (4, 0)])
    with pytest.raises(VocabularyError, match="are both 'ab'"):
        bpe.load(write(tmp_path / "twice.model", twice))
    ties = model([*ROWS, ("aéb", -1.0, TokenType.NORMAL)], BYTE_FALLBACK, [(3, 1), (4, 0)])
    assert not is_made(bpe.load(write(tmp_path / "ties.model", ties)))


def test_threads_share_it(path: Path) -> None:
    tokenizer = load(path)
    expected = load(path, "python").encode("ab " * MAX_FIRST)
    barrier = Barrier(8)

    def encode(_: int) -> list[int]:
        barrier.wait()
        return tokenizer.encode("ab " * MAX_FIRST)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(encode, range(8))) == [expected] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_fork_before_it_is_made(path: Path) -> None:
    tokenizer = load(path)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends the child if it waits for a lock
        os._exit(0 if len(tokenizer.encode("ab" * MAX_FIRST)) > 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not is_made(tokenizer)


def test_no_reference_cycle_keeps_the_tokenizer(path: Path) -> None:
    for text in ("ab", "ab" * MAX_FIRST):
        tokenizer = load(path)
        tokenizer.encode(text)
        gone = ref(tokenizer)
        gc.disable()
        try:
            del tokenizer
            assert gone() is None
        finally:
            gc.enable()
