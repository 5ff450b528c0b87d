"""A user's program, which test_typing.py gives to mypy. Never run."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import bpe
import pretok
from bpe import AddedToken, DecodeStream, EncodeStream, Token, Tokenizer, Vocabulary
from pretok import (
    ALL,
    CasedWord,
    Contraction,
    Preset,
    PreTokenizer,
    Rule,
    Run,
    Spaces,
    Step,
    Stream,
)
from pretok.charsets import LETTER, NUMBER, SPACE, CharSet, code_points

if sys.version_info >= (3, 11):
    from typing import Literal, assert_type
else:
    from typing import Literal

    from typing_extensions import assert_type

tok = pretok.get("qwen2")
assert_type(tok, PreTokenizer)
assert_type(pretok.get("qwen2", unicode="18.0", backend="python"), PreTokenizer)
assert_type(pretok.presets(), tuple[Preset, ...])
assert_type(pretok.backend(), Literal["native", "python"])

assert_type(tok.split("a"), list[str])
assert_type(tok.split(b"a"), list[str])
assert_type(tok.split_bytes(b"a"), list[bytes])
assert_type(tok.offsets("a"), NDArray[np.int64])
assert_type(tok.offsets(b"a", unit="utf16"), NDArray[np.int64])
assert_type(tok.spans("a"), Iterator[tuple[int, int]])
assert_type(tok.count("a"), int)
assert_type(tok.split_batch(["a"], threads=2), list[list[str]])
assert_type(tok.split_batch(("a", "b")), list[list[str]])
assert_type(tok.explain("a"), list[Step])
assert_type(tok.preset, Preset)
assert_type(tok.unicode, str)
assert_type(tok.backend, Literal["native", "python"])

stream = tok.stream()
assert_type(stream, Stream)
assert_type(stream.feed("a"), list[str])
assert_type(tok.stream().feed(b"a"), list[str])
assert_type(stream.finish(), list[str])

step = tok.explain("a")[0]
assert_type(step.start, int)
assert_type(step.text, str)
assert_type(step.rule, Rule | None)
start, end, text, rule = step
assert_type(rule, Rule | None)

hexadecimal = code_points("a-f", (0x30, 0x39))
assert_type(hexadecimal, CharSet)
assert_type(~(LETTER | NUMBER) & hexadecimal - SPACE, CharSet)
rules = (
    Contraction("s", "re", ignore_case=True),
    CasedWord(LETTER, LETTER, lead=SPACE, suffix=Contraction("s")),
    Run(NUMBER, lead=None, at_most=3, tail=SPACE),
    Spaces(through=ALL),
)
mine = Preset("mine", rules=rules, aliases=("own",), engine="tiktoken", pattern="x")
assert_type(pretok.register(mine), Preset)
assert_type(pretok.get(mine), PreTokenizer)
assert_type(mine.rules[0].pattern, str)
assert_type(pretok.UnknownPresetError("x", ["y"]).near, tuple[str, ...])

trained = bpe.train(["ab"], vocab_size=300, special_tokens={"<PAD>": 0}, threads=2)
assert_type(trained, Tokenizer)
assert_type(bpe.load("cl100k_base", special_tokens={"<|end|>": 100257}), Tokenizer)
assert_type(trained.encode("a", special="allow", errors="strict"), list[int])
assert_type(trained.encode(b"a", {"<PAD>"}, add_special_tokens=True), list[int])
assert_type(trained.encode_array("a"), NDArray[np.uint32])
assert_type(trained.encode_batch(["a", b"b"], threads=2), list[list[int]])
assert_type(trained.encode_batch_array(iter(["a"])), tuple[NDArray[np.uint32], NDArray[np.int64]])
assert_type(trained.count("a"), int)
assert_type(trained.tokens("a"), list[Token])
assert_type(trained.tokens("a")[0].bytes, bytes)
assert_type(trained.decode([97], errors="strict", skip_special=True), str)
assert_type(trained.decode_bytes(np.array([97])), bytes)
assert_type(trained.tokens("a", unit="utf16"), list[Token])
assert_type(trained.encode_stream(), EncodeStream)
assert_type(trained.encode_stream().feed("a"), list[int])
assert_type(trained.encode_stream().iterate(["a", b"b"]), Iterator[list[int]])
assert_type(trained.decode_stream(), DecodeStream)
assert_type(trained.decode_stream().feed(97), str)
assert_type(trained.token_bytes(97), bytes)
assert_type(trained.token_id(b"a"), int)
assert_type(trained.vocab_size, int)
assert_type(trained.special_tokens, dict[str, int])
assert_type(trained.merges, tuple[tuple[bytes, bytes], ...])
assert_type(trained.preset, Preset | None)
made = Tokenizer(
    Vocabulary({byte: bytes([byte]) for byte in range(256)}),
    "gpt2",
    added_tokens=[AddedToken("<|end|>", 256)],
)
assert_type(made.vocabulary.ids, dict[bytes, int])


def mistakes() -> None:
    """Each line is a type error. mypy --strict reports a `type: ignore` that silences no error."""
    tok.split(1)  # type: ignore[arg-type]
    tok.split_batch([1])  # type: ignore[list-item]
    tok.offsets("a", unit="bytes")  # type: ignore[arg-type]
    pretok.get("qwen2", backend="cpp")  # type: ignore[arg-type]
    Run("a-z")  # type: ignore[arg-type]
    Run(NUMBER, at_most="3")  # type: ignore[arg-type]
    Spaces(3)  # type: ignore[arg-type]
    LETTER | "a"  # type: ignore[operator]
    tok.unicode = "18.0"  # type: ignore[misc]
    mine.name = "other"  # type: ignore[misc]
    trained.encode(3)  # type: ignore[arg-type]
    trained.encode("a", errors="ignore")  # type: ignore[arg-type]
    trained.encode("a", allowed_special="all")  # type: ignore[call-arg]
    trained.decode("a")  # type: ignore[arg-type]
    trained.save(3)  # type: ignore[arg-type]
    bpe.train(["a"])  # type: ignore[call-arg]
