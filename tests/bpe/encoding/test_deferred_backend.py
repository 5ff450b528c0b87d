"""A SentencePiece model finds its merges only for a long text, once; ids are the same."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any
from weakref import ref

import pytest

import bpe
from bpe import AddedToken, SpecialTokenError, Tokenizer, VocabularyError
from bpe.encoding.deferred_backend import MAX_FIRST, DeferredBackend
from bpe.formats.sentencepiece import PieceType
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from vocabulary_files import write

_core = pytest.importorskip("pretok._core", reason="the backend is for C++ only")

ROWS = [
    UNKNOWN,
    ("<s>", 0.0, PieceType.CONTROL),
    *BYTES,
    ("<sep>", 0.0, PieceType.USER_DEFINED),
    *normal("ab", "▁ab", "abab", "▁a", "éb", "▁", "a", "b", "é"),
    ("▁▁", -1e9, PieceType.NORMAL),
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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    data = model(ROWS, BYTE_FALLBACK, [(3, 1), (4, 0)])
    return write(tmp_path / "tokenizer.model", data)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets an item for each search for merges."""
    found: list[int] = []
    find: Callable[..., Any] = _core.piece_merges

    def search(*arguments: Any) -> Any:
        found.append(1)
        return find(*arguments)

    monkeypatch.setattr(_core, "piece_merges", search)
    return found


def is_made(tokenizer: Tokenizer) -> bool:
    backend = tokenizer._pipeline.backend
    assert isinstance(backend, DeferredBackend)
    return backend.is_made


def test_only_a_long_text_needs_merges(path: Path, searches: list[int]) -> None:
    tokenizer = bpe.load(path)
    encode = tokenizer.encode  # keeps the calls of before
    texts = [text for text in TEXTS if "\ud800" not in text]
    expected = [bpe.load(path, backend="python").encode(text, "text") for text in texts]
    searches.clear()  # the Python backend has searched too
    assert [encode(text, "text") for text in texts] == expected
    assert [tokenizer.encode_array(text, "text").tolist() for text in texts] == expected
    assert [tokenizer.count(text, "text") for text in texts] == list(map(len, expected))
    assert not searches
    assert not is_made(tokenizer)
    slow = tokenizer._encode
    assert len(encode("ab" * MAX_FIRST)) > 1
    assert searches == [1]
    assert is_made(tokenizer)
    assert tokenizer._encode is not slow
    assert [encode(text, "text") for text in texts] == expected
    assert tokenizer.encode_batch(texts, "text") == expected
    assert searches == [1]
    # The vocabulary has the merges now, so its other tokenizers need no search.
    again = Tokenizer(
        tokenizer.vocabulary,
        tokenizer.pre_tokenizer,
        normalizer=tokenizer.normalizer,
        decoder=tokenizer.decoder,
    )
    assert again.encode("abab") == tokenizer.encode("abab")
    assert searches == [1]
    assert not isinstance(again._pipeline.backend, DeferredBackend)


def test_many_short_texts_need_merges(path: Path, searches: list[int]) -> None:
    expected = bpe.load(path, backend="python").encode("abab")
    searches.clear()
    tokenizer = bpe.load(path)
    for _ in range(MAX_FIRST // 4):
        tokenizer.encode("abab")
    assert not searches
    assert tokenizer.encode("abab") == expected
    assert searches == [1]


@pytest.mark.parametrize("text", TEXTS)
def test_all_calls_are_equal(path: Path, text: str) -> None:
    """Each call is the first call of a new tokenizer."""
    expected = bpe.load(path, backend="python")
    ids = expected.encode(text, "allow")
    assert bpe.load(path).encode(text, "allow") == ids
    assert bpe.load(path).encode_array(text, "allow").tolist() == ids
    assert bpe.load(path).count(text, "allow") == len(ids)
    assert bpe.load(path).encode_batch([text], "allow") == [ids]
    assert bpe.load(path).tokens(text, "allow") == expected.tokens(text, "allow")
    assert bpe.load(path).decode(ids) == expected.decode(ids)
    assert bpe.load(path).merge(b"abab") == expected.merge(b"abab")
    data = text.encode("utf-8", "replace")
    assert bpe.load(path).encode(data, "allow") == expected.encode(data, "allow")
    assert pickle.loads(pickle.dumps(bpe.load(path))).encode(text, "allow") == ids
    tokenizer = bpe.load(path)
    assert tokenizer.cache_bytes >= 0
    tokenizer.trim()
    assert tokenizer.encode(text, "allow") == ids
    assert not is_made(tokenizer)


def test_refused_tokens_and_user_defined_symbols(path: Path) -> None:
    tokenizer = bpe.load(path)
    with pytest.raises(SpecialTokenError) as first:
        tokenizer.encode("ab<s>")
    assert not is_made(tokenizer)
    tokenizer.encode_batch([])
    assert is_made(tokenizer)
    with pytest.raises(SpecialTokenError) as later:
        tokenizer.encode("ab<s>")
    assert str(first.value) == str(later.value)
    assert AddedToken("<sep>", 258, special=False, normalized=True) in tokenizer.added_tokens


def test_errors_come_at_loading(tmp_path: Path) -> None:
    twice = model([*ROWS, ("ab", -50.0, PieceType.NORMAL)], BYTE_FALLBACK, [(3, 1), (4, 0)])
    with pytest.raises(VocabularyError, match="are both 'ab'"):
        bpe.load(write(tmp_path / "twice.model", twice))
    ties = model([*ROWS, ("aéb", -1.0, PieceType.NORMAL)], BYTE_FALLBACK, [(3, 1), (4, 0)])
    assert bpe.load(write(tmp_path / "ties.model", ties)).backend == "python"


def test_threads_make_it_once(path: Path, searches: list[int]) -> None:
    tokenizer = bpe.load(path)
    expected = bpe.load(path, backend="python").encode("ab " * MAX_FIRST)
    searches.clear()
    barrier = Barrier(8)

    def encode(_: int) -> list[int]:
        barrier.wait()
        return tokenizer.encode("ab " * MAX_FIRST)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(encode, range(8))) == [expected] * 8
    assert searches == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_fork_while_another_thread_makes_it(path: Path) -> None:
    tokenizer = bpe.load(path)
    backend = tokenizer._pipeline.backend
    assert isinstance(backend, DeferredBackend)
    is_held, may_end = Event(), Event()

    def hold() -> None:
        with backend._lock[0]:
            is_held.set()
            may_end.wait()

    thread = Thread(target=hold)
    thread.start()
    is_held.wait()
    try:
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends the child if it waits for the lock
            os._exit(0 if len(tokenizer.encode("ab" * MAX_FIRST)) > 1 else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        may_end.set()
        thread.join()


def test_no_reference_cycle_keeps_the_tokenizer(path: Path) -> None:
    for text in ("ab", "ab" * MAX_FIRST):
        tokenizer = bpe.load(path)
        tokenizer.encode(text)
        gone = ref(tokenizer)
        gc.disable()
        try:
            del tokenizer
            assert gone() is None
        finally:
            gc.enable()
