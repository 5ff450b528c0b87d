"""Calls of a whole batch, and calls that return futures, have the outcome of the real tokenizer."""

from __future__ import annotations

import asyncio
import importlib
from collections import UserDict, UserList, deque
from operator import methodcaller
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import huggingface_pairs as pairs
from huggingface_pairs import both, small
from support import max_examples, seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = ["the é", "", " the quick  <s>", "日本"]
SERVED: dict[str, Any] = {
    "tuple": (*TEXTS,),
    "no texts": (),
    "array": np.array(TEXTS),
    "array of objects": np.array(TEXTS, dtype=object),
    "deque": deque(TEXTS),
    "list of another class": UserList(TEXTS),
    "items of arrays": [*np.array(TEXTS)],
    "tuple of pairs": (("the", "fox"), ["é", ""]),
}
"""Batches that bpe serves, by their kind."""
BATCHES = SERVED | {
    "array of pairs": np.array([["the", "fox"], ["é", ""]]),
    "pair in a deque": [deque(["the", "fox"])],
    "arrays of words": [np.array(["the", "fox", "é"]), np.array(["the"], dtype=object)],
    "lists of words": (["the", "fox", "é"], ("the",), []),
    "pairs of words": [(["the", "é"], ["fox"]), [["the"], []]],
    "two words": [["the", "fox"]],
    "one word": [("the",)],
    "set": {"the"},
    "dict": {0: "the"},
    "mapping": UserDict(the="fox"),
    "read-only mapping": MappingProxyType({"the": "fox"}),
    "iterator": iter(()),
    "bytes": b"the",
    "bytes of words": [b"the"],
    "str": "the",
    "range": range(2),
    "None": None,
    "lone surrogate": ["the", "\ud800"],
    "mixed types": ["the", None],
}
CALLS = ("encode_batch", "encode_batch_fast", "async_encode_batch", "async_encode_batch_fast")


def awaited(method: str, *args: Any, **options: Any) -> pairs.Call:
    """Return a call of a method, which waits for the result if it is a future."""

    def call(tok: Any) -> Any:
        if not method.startswith("async_"):
            return getattr(tok, method)(*args, **options)

        async def run() -> Any:
            return await getattr(tok, method)(*args, **options)

        return asyncio.run(run())

    return call


def pair(**parts: Any) -> tuple[Any, Any]:
    """Return a real tokenizer, and the stand-in, with a template and an added token."""
    processor = pairs.random_template(seeded("calls"))
    real, ours = both(small(post_processor=processor, **parts))
    for tok in (real, ours):
        tok.add_special_tokens(["<s>"])
    return real, ours


def assert_same(call: pairs.Call, toks: tuple[Any, Any]) -> None:
    """Fail unless both tokenizers have the same outcome."""
    real, ours = toks
    assert pairs.outcome(call, ours) == pairs.outcome(call, real)


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("method", CALLS)
def test_batches_of_every_type(method: str, kind: str) -> None:
    toks = pair()
    for options in ({}, {"add_special_tokens": False}, {"is_pretokenized": True}):
        assert_same(awaited(method, BATCHES[kind], **options), toks)
    for tok in toks:
        tok.enable_truncation(5, stride=1)
        tok.enable_padding(pad_to_multiple_of=4)
    assert_same(awaited(method, BATCHES[kind]), toks)


ENDS = {"sep": ["</s>", 2], "cls": ["<s>", 1]}
LEVEL = pairs.byte_level(add_prefix_space=True, trim_offsets=True)
PROCESSORS: dict[str, Any] = {
    "none": None,
    "empty": {"type": "Sequence", "processors": []},
    "byte-level": LEVEL,
    "bert": {"type": "BertProcessing", **ENDS},
    "roberta": {
        "type": "RobertaProcessing", **ENDS, "trim_offsets": True, "add_prefix_space": True
    },
}  # fmt: skip


@pytest.mark.parametrize("processor", PROCESSORS)
def test_types_of_pairs(processor: str) -> None:
    toks = both(small(post_processor=PROCESSORS[processor]))
    for method in CALLS:
        assert_same(awaited(method, [("the", "é fox"), "the"]), toks)
    for tok in toks:
        tok.enable_truncation(5, stride=1)
    for method in CALLS:
        assert_same(awaited(method, [("the quick é fox", "é fox" * 3), "the"]), toks)


@pytest.mark.parametrize("kind", SERVED)
def test_frequent_types_of_batches_are_served(kind: str) -> None:
    _, ours = pair()
    for method in CALLS:
        awaited(method, [*BATCHES[kind]] if method.startswith("async") else BATCHES[kind])(ours)
    assert hf.engine(ours).counts == {"bpe": len(CALLS), "tokenizers": 0}


@pytest.mark.parametrize("method", ["encode", "async_encode"])
@pytest.mark.parametrize(
    "args",
    [("the é",), ("the", "fox"), ("\ud800",), (None,), (["the"],), (["the", "é"], None, True),
     (["the"], ("é",), True), ("the", None, True), ("the", None, 1),
     (np.array(["the"]), None, True), ("the", None, False, False), ("the", "\ud800")],
    ids=repr,
)  # fmt: skip
def test_single_calls(method: str, args: tuple[Any, ...]) -> None:
    assert_same(awaited(method, *args), pair())


@pytest.mark.parametrize("seed", range(max_examples(20)))
def test_offsets_of_async_encode_count_bytes(seed: int) -> None:
    random = seeded(f"bytes {seed}")
    toks = both(pairs.random_tokenizer(random))
    for tok in toks:
        tok.add_tokens(["日本", " é "])
    for _ in range(20):
        text = pairs.random_text(random)
        words = text.split(" ")
        assert_same(awaited("async_encode", text), toks)
        assert_same(awaited("async_encode", words, words[:2], is_pretokenized=True), toks)


@pytest.mark.parametrize("method", ["decode_batch", "async_decode_batch"])
@pytest.mark.parametrize(
    "args",
    [([[65, 66], (67,)],), (([65], [66]),), (([65, 260, 322],), False), ([],), (((),),),
     (np.array([[65, 66]]),), ([np.array([65])],), ([range(70)],), ([[1.5]],), ([[-1]],),
     ([[1 << 32]],), (None,), (["a"],), ([[65]], 1), ([[True]],), (deque([[65]]),), ("a",), ({},)],
    ids=repr,
)  # fmt: skip
def test_batches_of_ids(method: str, args: tuple[Any, ...]) -> None:
    assert_same(awaited(method, *args), pair())


def test_a_truncation_that_fails_raises_when_a_future_is_awaited() -> None:
    toks = pair()
    for tok in toks:
        tok.enable_truncation(3, strategy="only_second")
    for method, argument in (("async_encode", "the quick the é"), ("async_encode_batch", TEXTS)):
        assert_same(awaited(method, argument), toks)


def test_a_future_needs_a_running_loop() -> None:
    for method, argument in (("async_encode", "the"), ("async_encode_batch", ["the"])):
        assert_same(methodcaller(method, argument), pair())


def test_a_future_has_the_texts_of_the_call() -> None:
    async def run(tok: Any) -> Any:
        batch = ["the é"] * 3
        future = tok.async_encode_batch(batch)
        assert asyncio.isfuture(future)
        batch.clear()
        return await future

    assert_same(lambda tok: asyncio.run(run(tok)), pair())


def test_calls_that_return_futures_are_counted() -> None:
    _, ours = pair()
    awaited("async_encode", "the")(ours)
    awaited("async_encode_batch", ["the"])(ours)
    awaited("async_encode_batch_fast", (("the", "é"),))(ours)
    awaited("async_decode_batch", [[65]])(ours)
    assert hf.engine(ours).counts == {"bpe": 4, "tokenizers": 0}
    pairs.outcome(awaited("async_encode", "\ud800"), ours)
    assert hf.engine(ours).counts == {"bpe": 4, "tokenizers": 1}
    with hf.patched(strict=True):
        for call in (
            awaited("async_encode_batch", [None]),
            awaited("encode_batch_fast", ["\ud800"]),
            awaited("async_decode_batch", [[-1]]),
        ):
            with pytest.raises(hf.FallbackError):
                call(ours)
