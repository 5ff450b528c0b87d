"""Compare patterns that pretok compiles to rules with the installed tiktoken and tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import pretok
from pretok.charsets.classified_text import Classifier
from pretok.fuzz.engines import engine as engine_of
from pretok.machine.backend import BackendName
from pretok.machine.program import compile_rules
from pretok.patterns.compile import compile_stage
from pretok.patterns.lookup import PATTERN_BEHAVIORS
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Engine, Preset
from pretok.unicode import DEFAULT_VERSION

PREFERRED = "'s a\n\tL1!/\u4e2d"
"""`representatives` takes a class's code point from here, if one of these belongs to the class."""


def compiled(pattern: str, engine: Engine, drops_text: bool = False) -> Preset:
    """Compile `pattern` to a preset, even if a built-in preset splits like it.

    If `drops_text`, the preset drops unmatched text for both engines, not only for tiktoken.
    """
    behavior = PATTERN_BEHAVIORS["tiktoken" if drops_text else engine]
    stage = compile_stage(pattern, engine, *behavior)
    return Preset("compiled", stages=[stage], engine=engine)


def representatives(preset: Preset) -> str:
    """Return one code point of each class that the rules of `preset` tell apart."""
    alphabet = compile_rules(preset.rules).alphabet
    classes = Classifier(alphabet, DEFAULT_VERSION).classes
    found: dict[int, str] = {}
    for char in PREFERRED:
        found.setdefault(int(classes[ord(char)]), char)
    for number in range(alphabet.size):
        code_points = classes == number
        code_points[0xD800:0xE000] = False
        if number not in found and code_points.any():
            found[number] = chr(int(np.argmax(code_points)))
    return "".join(found.values())


def all_strings(letters: str, longest: int, most: int) -> list[str]:
    """Return all strings of 1 to `longest` letters, shortest first.

    Stops before a length that would give more than `most` strings in total.
    """
    found: list[str] = []
    for size in range(1, longest + 1):
        if len(found) + len(letters) ** size > most:
            break
        found += map("".join, product(letters, repeat=size))
    return found


def engine_splitter(preset: Preset) -> Callable[[Sequence[str]], list[list[str]]]:
    """Return a function that splits texts with the pattern of `preset`, by the preset's engine.

    Skips the test if the engine (tiktoken, or Hugging Face's tokenizers) is not installed.
    """
    if preset.engine == "tiktoken":
        pytest.importorskip("tiktoken")
        theirs: Any = engine_of("tiktoken").comparisons(PreTokenizer(preset))[0].theirs
        return theirs  # type: ignore[no-any-return]
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(preset.pattern), "isolated")
    return lambda texts: [[part for part, _ in split.pre_tokenize_str(text)] for text in texts]


def first_difference(
    preset: Preset, texts: Sequence[str], backend: BackendName
) -> tuple[str, list[str], list[str]] | None:
    """Return the first text that pretok and the engine split differently, and both results.

    Returns None if all results are equal. The result of pretok comes first.
    """
    tokenizer = pretok.get(preset, backend=backend)
    for text, theirs in zip(texts, engine_splitter(preset)(texts), strict=True):
        ours = tokenizer.split(text)
        if ours != theirs:
            return text, ours, theirs
    return None


def first_match_difference(
    preset: Preset, texts: Sequence[str], backend: BackendName
) -> tuple[str, object, object] | None:
    """Return the first text in which pretok and the engine match other parts, and both results.

    Returns None if all matches are equal. `preset` must be compiled with `drops_text`. Compares the
    spans of matches with tokenizers. tiktoken does not show spans, so this compares the matched
    texts, which have only one possible place if they are all of the text.
    """
    if preset.engine == "tiktoken":
        return first_difference(preset, texts, backend)
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = pretok.get(preset, backend=backend)
    only_matches = PATTERN_BEHAVIORS["tiktoken"]
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(preset.pattern), *only_matches)
    for text in texts:
        ours = list(tokenizer.spans(text))
        theirs = [span for _, span in split.pre_tokenize_str(text)]
        if ours != theirs:
            return text, ours, theirs
    return None
