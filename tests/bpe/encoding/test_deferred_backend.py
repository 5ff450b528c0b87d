"""The tables that only fast merging needs are made for a long text, once; ids are the same."""

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
from bpe import SpecialTokenError, Tokenizer, Vocabulary, VocabularyError
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.encoding.deferred_backend import MAX_FIRST, DeferredBackend
from bpe.formats import huggingface as json_format
from bpe.formats.json_value import Value
from bpe.formats.pretok_file import dump
from bpe.formats.sentencepiece_pieces import PieceType
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from text_models import CASES, file_of
from vocabulary_files import huggingface, made_vocabulary, write

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


pytestmark = pytest.mark.usefixtures("first_texts")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a SentencePiece model."""
    return write(tmp_path / "tokenizer.model", model(ROWS, BYTE_FALLBACK, [(3, 1), (4, 0)]))


def load(path: Path, backend: BackendName | None = None) -> Tokenizer:
    """Return a new tokenizer."""
    return bpe.load(path, backend=backend)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that gets an item for each encoder with merges that C++ makes."""
    found: list[object] = []
    make: Callable[..., Any] = _core.Encoder

    def new(*arguments: Any, **options: Any) -> Any:
        encoder = make(*arguments, **options)
        if not (arguments[-1] is True or options.get("for_short_texts")):
            found.append(arguments)
        return encoder

    monkeypatch.setattr(_core, "Encoder", new)
    return found


def is_made(tokenizer: Tokenizer) -> bool:
    backend = tokenizer._pipeline.backend
    assert isinstance(backend, DeferredBackend)
    return backend.is_made


def test_only_a_long_text_needs_merges(path: Path, searches: list[object]) -> None:
    tokenizer = load(path)
    encode = tokenizer.encode  # keeps the calls of before
    texts = [text for text in TEXTS if "\ud800" not in text]
    expected = [load(path, "python").encode(text, "text") for text in texts]
    assert [encode(text, "text") for text in texts] == expected
    assert [tokenizer.encode_array(text, "text").tolist() for text in texts] == expected
    assert [tokenizer.count(text, "text") for text in texts] == list(map(len, expected))
    assert not searches
    assert not is_made(tokenizer)
    slow = tokenizer._encode
    assert len(encode("ab" * MAX_FIRST)) > 1
    assert len(searches) == 1
    assert is_made(tokenizer)
    assert tokenizer._encode is not slow
    assert [encode(text, "text") for text in texts] == expected
    assert tokenizer.encode_batch(texts, "text") == expected
    assert len(searches) == 1
    # Other tokenizers of the vocabulary make all tables at once.
    again = Tokenizer(
        tokenizer.vocabulary,
        tokenizer.pre_tokenizer,
        normalizer=tokenizer.normalizer,
        decoder=tokenizer.decoder,
    )
    assert len(searches) == 2
    assert again.encode("abab") == tokenizer.encode("abab")
    assert not isinstance(again._pipeline.backend, DeferredBackend)


def test_many_short_texts_need_merges(path: Path, searches: list[object]) -> None:
    expected = load(path, "python").encode("abab")
    tokenizer = load(path)
    for _ in range(MAX_FIRST // 4):
        tokenizer.encode("abab")
    assert not searches
    assert tokenizer.encode("abab") == expected
    assert len(searches) == 1


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
def test_other_files(name: str, tmp_path: Path, searches: list[object]) -> None:
    file = FILES[name]()
    path = write(tmp_path / name, file)
    searches.clear()
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
    assert not searches
    assert not is_made(tokenizer)
    slow = tokenizer._encode, tokenizer._decode
    long = "".join(texts[:6]) * MAX_FIRST
    assert tokenizer.encode(long, "allow") == expected.encode(long, "allow")
    assert is_made(tokenizer)
    assert len(searches) == 1
    assert slow[0] is not tokenizer._encode
    assert slow[1] is not tokenizer._decode
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
    assert tokenizer.vocabulary.native().merges() is None
    assert Tokenizer(
        tokenizer.vocabulary,
        tokenizer.pre_tokenizer,
        normalizer=tokenizer.normalizer,
        decoder=tokenizer.decoder,
    ).encode("éb  é") == expected.encode("éb  é")


def test_errors_come_at_loading(tmp_path: Path) -> None:
    twice = model([*ROWS, ("ab", -50.0, PieceType.NORMAL)], BYTE_FALLBACK, [(3, 1), (4, 0)])
    with pytest.raises(VocabularyError, match="are both 'ab'"):
        bpe.load(write(tmp_path / "twice.model", twice))
    ties = model([*ROWS, ("aéb", -1.0, PieceType.NORMAL)], BYTE_FALLBACK, [(3, 1), (4, 0)])
    assert not isinstance(
        bpe.load(write(tmp_path / "ties.model", ties))._pipeline.backend, DeferredBackend
    )


def test_threads_make_it_once(path: Path, searches: list[object]) -> None:
    tokenizer = load(path)
    expected = load(path, "python").encode("ab " * MAX_FIRST)
    searches.clear()
    barrier = Barrier(8)

    def encode(_: int) -> list[int]:
        barrier.wait()
        return tokenizer.encode("ab " * MAX_FIRST)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(encode, range(8))) == [expected] * 8
    assert len(searches) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_fork_while_another_thread_makes_it(path: Path) -> None:
    tokenizer = load(path)
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
        tokenizer = load(path)
        tokenizer.encode(text)
        gone = ref(tokenizer)
        gc.disable()
        try:
            del tokenizer
            assert gone() is None
        finally:
            gc.enable()
