"""Calls with a fast path in C++ have the results of pure Python, and keep no tokenizer alive."""

from __future__ import annotations

import ctypes
import gc
import inspect
import pickle
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import AddedToken, SpecialTokenError, Tokenizer
from pretok.machine.backend import BackendName
from support import max_examples
from vocabulary_files import made, made_vocabulary

ADDED = [AddedToken("<|end|>", 300), AddedToken("<pad>", 301), AddedToken("é<", 302, special=False)]
CHARS = st.sampled_from([*"ab <|end>1\n", "é", "\xff", "中", "\u0430", "\U0001f600", "\ud83d",
                         "\ude00", "e\u0301", "<|end|>", "<pad>", "é<"])  # fmt: skip
TEXTS = st.lists(CHARS, max_size=40).map("".join)
POLICIES: list[Any] = ["raise", "text", "allow", {"<pad>"}, {"<pad>", "<|end|>"}, frozenset(),
                       {"é<"}, "".join(["al", "low"])]  # fmt: skip


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the type and the message of its error."""
    try:
        found = call()
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return found.tolist() if isinstance(found, np.ndarray) else found


@pytest.mark.parametrize("normalizer", [None, "NFC"])
@given(text=TEXTS, as_bytes=st.booleans(), special=st.sampled_from(POLICIES))
@settings(max_examples=max_examples(150))
def test_short_calls(
    native: BackendName, normalizer: Any, text: str, as_bytes: bool, special: Any
) -> None:
    ours = made(native, special=(), added_tokens=ADDED, normalizer=normalizer)
    slow = made("python", special=(), added_tokens=ADDED, normalizer=normalizer)
    data: Any = text.encode("utf-8", "surrogatepass") if as_bytes else text
    for errors in ("replace", "strict"):
        for name in ("encode", "encode_array", "count"):
            want = outcome(partial(getattr(slow, name), data, special, errors=errors))
            call = getattr(ours, name)
            assert outcome(partial(call, data, special, errors=errors)) == want
            assert outcome(partial(call, data, special=special, errors=errors)) == want
            assert outcome(partial(call, text=data, special=special, errors=errors)) == want


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 4095, 4096, 4097, 20000])
@pytest.mark.parametrize("char", ["q", "é", "中", "\U0001f600"])
def test_sizes_near_the_limits_of_the_fast_paths(native: BackendName, size: int, char: str) -> None:
    ours = made(native)
    text = char * size
    want = list(text.encode()) if char != "é" else [262] * size
    assert ours.encode(text) == ours.encode_array(text).tolist() == want
    assert ours.encode(text.encode()) == want
    assert ours.count(text) == len(want)
    assert ours.decode(want) == ours.decode(tuple(want)) == ours.decode(np.array(want)) == text


def test_a_str_with_cached_utf8(native: BackendName) -> None:
    text = "".join(["中é", "abc"])
    before = sys.getsizeof(text)
    ctypes.pythonapi.PyUnicode_AsUTF8AndSize(ctypes.py_object(text), None)
    assert sys.getsizeof(text) > before
    assert made(native).encode(text) == made(native).encode(text.encode())
    assert made(native).encode_batch([text]) == [made(native).encode(text)]


def test_arguments_are_those_of_python(backend: BackendName) -> None:
    ours = made(backend)
    signature = inspect.signature(ours.encode)
    assert list(signature.parameters) == [
        "text", "special", "errors", "add_special_tokens", "threads", "continuation", "dropout",
        "seed",
    ]  # fmt: skip
    assert inspect.signature(Tokenizer.encode).parameters["special"].default == "raise"
    assert Tokenizer.encode.__name__ == "encode"
    assert Tokenizer.encode.__module__ == "bpe.tokenizer"
    encode: Any = ours.encode
    wrongs: tuple[Callable[[], object], ...] = (
        lambda: encode(),
        lambda: encode("a", "raise", "replace"),
        lambda: encode("a", text="b"),
        lambda: encode("a", unknown=1),
        lambda: encode(3),
        lambda: encode("a", special=3),
    )
    for wrong in wrongs:
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="errors='x'"):
        encode("a", errors="x")


def test_arguments_of_decode(backend: BackendName) -> None:
    ours = made(backend)
    decode: Any = ours.decode
    decode_bytes: Any = ours.decode_bytes
    ids = [*ours.encode("the abc"), *ours.special_tokens.values(), 0xE4]
    for errors in ("replace", "ignore"):
        for skip in (False, True, 0, 1):
            data = decode_bytes(ids, skip_special=skip)
            assert data == decode_bytes(ids=ids, skip_special=skip)
            want = data.decode(errors=errors)
            assert decode(ids, errors=errors, skip_special=skip) == want
            assert decode(ids, skip_special=skip, errors=errors) == want
            assert decode(ids=ids, errors=errors, skip_special=skip) == want
    assert (
        decode(ids) == decode(ids, errors="replace") == decode_bytes(ids).decode(errors="replace")
    )
    assert decode_bytes(ids) != decode_bytes(ids, skip_special=True)
    wrongs: tuple[Callable[[], object], ...] = (
        lambda: decode(),
        lambda: decode(ids, "replace"),
        lambda: decode(ids, errors="replace", unknown="raise", other=1),
        lambda: decode(ids, other=1),
        lambda: decode(ids, ids=ids),
        lambda: decode_bytes(ids, False),
        lambda: decode_bytes(ids, errors="replace"),
    )
    for wrong in wrongs:
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(UnicodeDecodeError):
        decode(ids, errors="strict")


def test_methods_can_be_overridden_and_pickled(backend: BackendName) -> None:
    class Loud(Tokenizer):
        def encode(self, text: Any, *args: Any, **options: Any) -> list[int]:
            return [-1, *super().encode(text, *args, **options)]

    loud = Loud(made_vocabulary(), "cl100k", backend=backend)
    assert loud.encode("ab") == [-1, 256]
    assert loud.encode_array("ab").tolist() == [256]
    assert pickle.loads(pickle.dumps(made(backend).encode))("abc") == [258]


def test_nothing_keeps_a_tokenizer_alive(backend: BackendName) -> None:
    ours = made(backend)
    assert ours.decode(ours.encode("abc the", "allow")) == "abc the"
    gone = weakref.ref(ours)
    gc.collect()
    gc.disable()
    try:
        del ours
        assert gone() is None
    finally:
        gc.enable()


def test_the_error_is_about_the_first_text_with_a_special_token(backend: BackendName) -> None:
    ours = made(backend)
    size = 16_000 if backend == "native" else 800
    texts = ["abc the " * (size // 8)] * 60
    for refused in (59, 7, 8):
        texts[refused] += "<|end|>"
        for threads in (1, 2, 5):
            with pytest.raises(SpecialTokenError) as caught:
                ours.encode_batch(texts, threads=threads)
            assert caught.value.text_index == min(
                i for i, text in enumerate(texts) if text.endswith(">")
            )
            assert caught.value.position == size


TEXTS_OF_A_BATCH = [("abc the é中" * (i % 50) * 40) + "x" * i for i in range(300)]


@cache
def first_ids_of_a_batch() -> list[list[int]]:
    return [made("python").encode(text) for text in TEXTS_OF_A_BATCH[:60]]


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_lists_of_a_batch(native: BackendName, threads: int | None) -> None:
    ours = made(native)
    texts = TEXTS_OF_A_BATCH
    found = ours.encode_batch(texts, threads=threads)
    assert found[:60] == first_ids_of_a_batch()
    ids, offsets = ours.encode_batch_array(texts, threads=threads)
    assert [ids[a:b].tolist() for a, b in pairwise(offsets)] == found
    # The garbage collector must track each list: a caller may append a list to itself.
    assert all(map(gc.is_tracked, found))
    assert gc.is_tracked(found)


def test_texts_of_unusual_types_take_the_slow_path(native: BackendName) -> None:
    ours = made(native)
    texts: list[Any] = ["ab", type("Text", (str,), {})("abc"), bytearray(b"ab"), b"the", "\ud800"]
    assert ours.encode_batch(texts) == [ours.encode(text) for text in texts]
    with pytest.raises(TypeError, match="expected str or bytes, got int"):
        ours.encode_batch(["<|end|>", 3])  # type: ignore[list-item]


def test_many_threads_with_one_tokenizer(native: BackendName) -> None:
    ours = made(native)
    texts = ["abc the é" * (i % 7) + str(i) for i in range(200)]
    want = [made("python").encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(ours.encode, texts)) == want
            assert list(pool.map(ours.decode, want)) == texts
