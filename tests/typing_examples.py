"""What a user's program may write, for mypy; tests/test_typing.py checks it. Never run."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import pretok
from pretok import (
    ALL,
    LETTER,
    NUMBER,
    SPACE,
    CasedWord,
    CharSet,
    Contraction,
    Preset,
    PreTokenizer,
    Rule,
    Run,
    Spaces,
    Step,
    Stream,
    code_points,
)

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


def mistakes() -> None:
    """Each line is an error; mypy --strict reports an ignore that silences nothing."""
    tok.split(b"a")  # type: ignore[arg-type]
    tok.split_bytes("a")  # type: ignore[arg-type]
    tok.offsets("a", unit="bytes")  # type: ignore[arg-type]
    pretok.get("qwen2", backend="cpp")  # type: ignore[arg-type]
    Run("a-z")  # type: ignore[arg-type]
    Run(NUMBER, at_most="3")  # type: ignore[arg-type]
    Spaces(3)  # type: ignore[arg-type]
    LETTER | "a"  # type: ignore[operator]
    tok.unicode = "18.0"  # type: ignore[misc]
    mine.name = "other"  # type: ignore[misc]
