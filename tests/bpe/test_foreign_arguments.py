"""Arguments and calls of other tokenizers: the error says what bpe has instead."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import bpe
import pretok
from bpe.encoding.foreign_arguments import BUDGETS, DECODE, ENCODE, LOAD, TRAIN, explained
from command_line import small_tokenizer
from pretok.machine.backend import BackendName

TOK: Any = bpe.Tokenizer
GROUPS: dict[str, tuple[Mapping[str, str], list[Callable[..., Any]]]] = {
    "encode": (ENCODE, [TOK.encode, TOK.encode_array, TOK.count, TOK.tokens, TOK.token_spans,
                        TOK.encode_batch, TOK.encode_batch_array, TOK.encode_packed,
                        TOK.encode_column, TOK.encode_padded]),
    "budgets": (BUDGETS, [TOK.truncate, TOK.chunks, TOK.count_up_to]),
    "decode": (DECODE, [TOK.decode, TOK.decode_bytes, TOK.decode_batch, TOK.decode_stream]),
    "train": (TRAIN, [bpe.train]),
    "load": (LOAD, [bpe.load]),
}  # fmt: skip
SPECIAL = 'special= takes "raise", "text", "allow", "plain", "content" or a set of special tokens'


@pytest.mark.parametrize("group", GROUPS)
def test_every_function_names_its_own_argument(group: str, backend: BackendName) -> None:
    advice, functions = GROUPS[group]
    first: dict[str, tuple[Any, ...]] = {"encode": ("a",), "decode": ([1],), "train": (["a"], 300),
                                         "budgets": ("a", 3), "load": ("gpt2",)}  # fmt: skip
    tok = small_tokenizer(backend)
    for function in functions:
        name = function.__name__
        arguments: tuple[Any, ...] = first[group]
        if name == "encode_packed":
            arguments = (b"a", [0, 1])
        call = getattr(tok, name) if group in ("encode", "budgets", "decode") else function
        known = inspect.signature(function).parameters
        for foreign in advice.keys() - known.keys():
            with pytest.raises(TypeError) as raised:
                call(*arguments, **{foreign: True})
            start = f"{name}() got an unexpected keyword argument {foreign!r}; "
            assert str(raised.value) == start + advice[foreign]
        with pytest.raises(TypeError) as raised:
            call(*arguments, no_such_argument=1)
        assert (
            str(raised.value) == f"{name}() got an unexpected keyword argument 'no_such_argument'"
        )


@pytest.mark.parametrize("group", GROUPS)
def test_the_advice_names_arguments_and_methods_that_exist(group: str) -> None:
    advice, functions = GROUPS[group]
    named = [*functions, TOK.encode_padded]  # the advice for budgets names its arguments, too
    parameters = {name for function in named for name in inspect.signature(function).parameters}
    for foreign, text in advice.items():
        for argument in re.findall(r"(\w+)=(?![a-z'\"])", text):
            assert argument in parameters | {"engine"}, text
        for method in re.findall(r"\b(?:(?:en|de)code(?:_\w+)?|count|token_spans)\b", text):
            assert hasattr(bpe.Tokenizer, method), text
        assert any(foreign not in inspect.signature(function).parameters for function in functions)


def test_the_arguments_of_tiktoken(backend: BackendName) -> None:
    tok: Any = small_tokenizer(backend)
    for name in ("allowed_special", "disallowed_special"):
        with pytest.raises(TypeError) as raised:
            tok.encode("a", **{name: "all"})
        assert str(raised.value) == (
            f"encode() got an unexpected keyword argument {name!r}; {SPECIAL}; "
            "bpe.compat.tiktoken takes the arguments of tiktoken"
        )


def test_the_decorator_of_functions_without_the_native_backend() -> None:
    @explained({"theirs": "the argument is called ours="})
    def function(first: int, ours: int = 1) -> int:
        """Return a quotient."""
        return first // ours

    call: Any = function
    assert (call(4, ours=2), call.__doc__, str(inspect.signature(call))) == (
        2, "Return a quotient.", str(inspect.signature(inspect.unwrap(call))),
    )  # fmt: skip
    with pytest.raises(TypeError) as raised:
        call(4, theirs=2)
    assert str(raised.value) == (
        "function() got an unexpected keyword argument 'theirs'; the argument is called ours="
    )
    with pytest.raises(TypeError, match="unsupported operand"):
        call("a", ours=2)
    with pytest.raises(ZeroDivisionError):
        call(4, ours=0)


def test_a_type_error_of_a_known_argument_stays(backend: BackendName) -> None:
    tok: Any = small_tokenizer(backend)
    with pytest.raises(TypeError, match=r"^special=5; expected"):
        tok.encode("a", special=5, add_special_tokens=True)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        tok.encode(special="text")


def test_several_texts_for_a_call_that_takes_one(backend: BackendName) -> None:
    encode, split_several = (
        "encode_batch takes a list of texts",
        "split_batch takes a list of texts",
    )
    tok: Any = small_tokenizer(backend)
    split: Any = pretok.get("gpt2", backend=backend)
    for texts, kind in ((["a"], "list"), (("a", "b"), "tuple"), ({"a": 1}, "dict")):
        expected = f"expected str or bytes, got {kind}"
        for call in (tok.encode, tok.encode_array, tok.count, tok.tokens, tok.token_spans):
            with pytest.raises(TypeError, match=f"^{expected}; {encode}$"):
                call(texts)
        for call in (split.split, split.count, split.offsets, split.explain, split.spans):
            with pytest.raises(TypeError, match=f"^{expected}; {split_several}$"):
                call(texts)
    for call in (tok.encode, split.split):
        for value in (None, 3):
            with pytest.raises(TypeError, match=r"^expected str or bytes, got \w+$"):
                call(value)


def test_ids_of_the_wrong_depth(backend: BackendName) -> None:
    tok: Any = small_tokenizer(backend)
    deep = r"^ids\[0\] is \[1\]; expected an int; decode_batch takes several lists of ids$"
    for call in (tok.decode, tok.decode_bytes):
        with pytest.raises(TypeError, match=deep):
            call([[1]])
        with pytest.raises(TypeError, match=r"^expected an iterable of ids, got int; pass \[id\]$"):
            call(1)


def test_the_size_of_a_trained_vocabulary_by_position() -> None:
    assert bpe.train(["ab"], 257) == bpe.train(["ab"], vocab_size=257)
