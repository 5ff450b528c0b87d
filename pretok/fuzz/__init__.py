"""Differential fuzzing: split hard texts with a preset and with an engine, until they differ."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pretok.fuzz.engines import Ask, Comparison, Engine, EngineError
from pretok.fuzz.text import TextMaker
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.rules import Rule

SIMPLE = "a1 !A\n'\r\t\u00e9\u4e2d\u0301"
"""Code points to put into a text that is being minimised, the simplest first."""


@dataclass(frozen=True)
class Mismatch:
    """A text, as small as it gets, about which a preset and an engine differ.

    `ours` and `theirs` have one item per pre-token: the pre-token, or what was compared about it.
    `at` is the first item that differs, `rule` the rule that made it (None: no rule matched).
    """

    what: str
    text: str
    ours: list[Any]
    theirs: list[Any]
    at: int
    rule: Rule | None


@dataclass(frozen=True)
class Result:
    """How many texts were compared, in which Unicode version, and the first mismatch if any."""

    preset: Preset
    engine: str
    unicode: str
    cases: int
    mismatch: Mismatch | None


def fuzz(
    preset: Preset,
    engine: Engine,
    *,
    seed: int = 0,
    seconds: float | None = None,
    cases: int | None = None,
    backend: BackendName | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> Result:
    """Compare `preset` with `engine` on hard texts until they differ, or the limit is reached.

    The limit is `seconds`, or at least `cases` texts, or whichever comes first, but not before some
    texts are tried. The texts are the same for the same seed. `on_batch` is called with the number
    of texts after each batch. Raises EngineError if the engine cannot express the preset,
    ValueError if there is no limit.
    """
    if seconds is None and cases is None:
        raise ValueError("no limit given; expected seconds or cases")
    refusal = engine.unsupported_reason(preset)
    if refusal:
        raise EngineError(f"{engine.name} cannot express preset {preset.name!r}: {refusal}")
    version = engine.unicode(preset)
    tokenizer = PreTokenizer(preset, version, backend)
    comparisons = engine.comparisons(tokenizer)
    maker = TextMaker(
        f"{seed}/{preset.name}",
        version,
        longest=engine.longest,
        surrogates=engine.surrogates,
    )
    end = time.monotonic() + seconds if seconds is not None else float("inf")
    done = 0
    mismatch = None
    limit = cases or float("inf")
    while mismatch is None and (done == 0 or (done < limit and time.monotonic() < end)):
        texts = maker.batch(engine.batch)
        mismatch = _first_mismatch(tokenizer, comparisons, texts)
        done += len(texts)
        if on_batch:
            on_batch(len(texts))
    return Result(preset, engine.name, version, done, mismatch)


def minimise(text: str, differs: Callable[[str], bool]) -> str:
    """Return a small and simple text for which `differs` is still true; it must be for `text`.

    No single code point can be left out or made simpler (see SIMPLE).
    """
    while True:
        before = text
        size = len(text)
        while size:
            start = 0
            while start < len(text):
                shorter = text[:start] + text[start + size :]
                if differs(shorter):
                    text = shorter
                else:
                    start += size
            size //= 2
        for at in range(len(text)):
            for char in SIMPLE.partition(text[at])[0]:
                simpler = text[:at] + char + text[at + 1 :]
                if differs(simpler):
                    text = simpler
                    break
        if text == before:
            return text


def _first_mismatch(
    tokenizer: PreTokenizer, comparisons: list[Comparison], texts: list[str]
) -> Mismatch | None:
    for comparison in comparisons:
        ours, theirs = _asked(comparison.ours, texts), _asked(comparison.theirs, texts)
        if ours == theirs:
            continue
        text = next(t for t, a, b in zip(texts, ours, theirs, strict=True) if a != b)
        return _mismatch(tokenizer, comparison, text)
    return None


def _mismatch(tokenizer: PreTokenizer, comparison: Comparison, text: str) -> Mismatch:
    def answers(text: str) -> tuple[list[Any], list[Any]]:
        return _asked(comparison.ours, [text])[0], _asked(comparison.theirs, [text])[0]

    def differs(text: str) -> bool:
        ours, theirs = answers(text)
        return ours != theirs

    # A text that differs only in the company of others is shown as it is.
    small = minimise(text, differs) if differs(text) else text
    ours, theirs = answers(small)
    shared = min(len(ours), len(theirs))
    at = next((i for i in range(shared) if ours[i] != theirs[i]), shared)
    steps = tokenizer.explain(small)
    rule = steps[min(at, len(steps) - 1)].rule if steps else None
    return Mismatch(comparison.what, small, ours, theirs, at, rule)


def _asked(ask: Ask, texts: list[str]) -> list[list[Any]]:
    """Return the answers; an exception is an answer too, of the text that it came with."""
    try:
        return ask(texts)
    except Exception:
        return [_answer(ask, text) for text in texts]


def _answer(ask: Ask, text: str) -> list[Any]:
    try:
        return ask([text])[0]
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]
