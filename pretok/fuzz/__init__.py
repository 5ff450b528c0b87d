"""Differential fuzzing: compare the splits of a preset and an engine on difficult texts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pretok.fuzz.engines import Ask, ComparedSplits, EngineError, FuzzEngine
from pretok.fuzz.text import TextMaker
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.rules import Rule

SIMPLE = "a1 !A\n'\r\t\u00e9\u4e2d\u0301"
"""Replacements for code points of a text during minimization, simplest first."""


@dataclass(frozen=True)
class Mismatch:
    """A minimized text for which a preset and an engine differ.

    `comparison` names the call whose results differ. `ours` and `theirs` have one result per
    pre-token. `at` is the index of the first difference. `rule` is the rule that made the pre-token
    of pretok at this index, or the last pre-token if there are fewer; None if no rule matched.
    """

    comparison: str
    text: str
    ours: list[Any]
    theirs: list[Any]
    at: int
    rule: Rule | None


@dataclass(frozen=True)
class Result:
    """The result of comparing `preset` with `engine` on `cases` texts.

    `unicode` is the Unicode version of the engine. `mismatch` is the first mismatch, if any.
    """

    preset: Preset
    engine: str
    unicode: str
    cases: int
    mismatch: Mismatch | None


def fuzz(
    preset: Preset,
    engine: FuzzEngine,
    *,
    seed: int = 0,
    seconds: float | None = None,
    cases: int | None = None,
    backend: BackendName | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> Result:
    """Compare `preset` with `engine` on difficult texts until they differ or a limit is reached.

    The limit is `seconds` or `cases` texts, whichever is reached first. Only whole batches run, at
    least one, so there may be more texts than `cases`. Equal seeds give equal texts. After each
    batch, `on_batch` is called with the number of texts in the batch. Raises EngineError if the
    engine cannot express the preset, and ValueError if `seconds` and `cases` are both None.
    """
    within = limits(seconds, cases)
    reason = engine.unsupported_reason(preset)
    if reason:
        raise EngineError(f"{engine.name} cannot express preset {preset.name!r}: {reason}")
    version = engine.unicode(preset)
    tokenizer = PreTokenizer(preset, version, backend)
    comparisons = engine.comparisons(tokenizer)
    maker = TextMaker(
        f"{seed}/{preset.name}", version, longest=engine.longest, surrogates=engine.surrogates
    )
    done = 0
    mismatch = None
    while mismatch is None and within(done):
        texts = maker.batch(engine.batch)
        mismatch = _first_mismatch(tokenizer, comparisons, texts)
        done += len(texts)
        if on_batch:
            on_batch(len(texts))
    return Result(preset, engine.name, version, done, mismatch)


def limits(seconds: float | None, cases: int | None) -> Callable[[int], bool]:
    """Return a function that takes the number of cases done, and returns whether to go on.

    The function always goes on after 0 cases. The time begins now. Raises ValueError if there is no
    limit.
    """
    if seconds is None and cases is None:
        raise ValueError("expected a limit, got none; pass seconds or cases")
    end = float("inf") if seconds is None else time.monotonic() + seconds
    most = float("inf") if cases is None else cases
    return lambda done: done == 0 or (done < most and time.monotonic() < end)


def minimize(text: str, differs: Callable[[str], bool]) -> str:
    """Return a small and simple text for which `differs` is true.

    The caller ensures that `differs(text)` is true. No single change can shorten or simplify the
    result further: if one code point is removed, or replaced by a simpler one (see SIMPLE),
    `differs` is false.
    """
    while True:
        previous = text
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
        if text == previous:
            return text


def _first_mismatch(
    tokenizer: PreTokenizer, comparisons: list[ComparedSplits], texts: list[str]
) -> Mismatch | None:
    for comparison in comparisons:
        ours, theirs = _results(comparison.ours, texts), _results(comparison.theirs, texts)
        if ours == theirs:
            continue
        text = next(t for t, a, b in zip(texts, ours, theirs, strict=True) if a != b)
        return _mismatch(tokenizer, comparison, text)
    return None


def _mismatch(tokenizer: PreTokenizer, comparison: ComparedSplits, text: str) -> Mismatch:
    def results(text: str) -> tuple[list[Any], list[Any]]:
        return _results(comparison.ours, [text])[0], _results(comparison.theirs, [text])[0]

    def differs(text: str) -> bool:
        ours, theirs = results(text)
        return ours != theirs

    # A text that differs only within its batch cannot be minimized.
    small = minimize(text, differs) if differs(text) else text
    ours, theirs = results(small)
    shared = min(len(ours), len(theirs))
    at = next((i for i in range(shared) if ours[i] != theirs[i]), shared)
    steps = tokenizer.explain(small)
    rule = steps[min(at, len(steps) - 1)].rule if steps else None
    return Mismatch(comparison.name, small, ours, theirs, at, rule)


def _results(ask: Ask, texts: list[str]) -> list[list[Any]]:
    """Return the result of `ask` for each text. If a text raises an exception, that is its result.

    First asks for all texts at once, because this is faster.
    """
    try:
        return ask(texts)
    except Exception:
        return [_result(ask, text) for text in texts]


def _result(ask: Ask, text: str) -> list[Any]:
    try:
        return ask([text])[0]
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]
