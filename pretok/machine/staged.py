"""Run several stages in pure Python: each stage splits the pieces of the previous stage.

cpp/core/split/pre_tokenizer.hpp declares the C++ class that returns equal results.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pretok.behaviors import apply_behavior
from pretok.charsets.classified_text import code_points_of
from pretok.machine.machine import GAP, Machine, PythonSplitter, Steps, Unit, widths_of
from pretok.machine.program import compile_rules
from pretok.stage import Stage
from pretok.text import as_str


class StagedMachine(PythonSplitter):
    """Splits with several stages in one Unicode version. Immutable.

    Each method takes time linear in the length of the text.
    """

    def __init__(self, stages: Sequence[Stage], version: str) -> None:
        # (machine of the stage, the stage, number of rules of all earlier stages)
        self._stages: list[tuple[Machine, Stage, int]] = []
        before = 0
        for stage in stages:
            self._stages.append((Machine(compile_rules(stage.rules), version), stage, before))
            before += len(stage.rules)

    def steps(self, text: str) -> Steps:
        """Return the pre-tokens of `text` with their rules.

        A part that no rule of a stage matched keeps the rule of the previous stage.
        """
        pieces = [(0, len(text), GAP)] if text else []
        for machine, stage, before in self._stages:
            pieces = [
                part
                for start, end, rule in pieces
                for part in _cut(machine, stage, before, text[start:end], start, rule)
            ]
        table = np.array(pieces, np.int64).reshape(-1, 3)
        return Steps(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].astype(np.int32))

    def offsets(self, data: str | bytes, unit: Unit) -> NDArray[np.int64]:
        """Return the n + 1 boundaries of the n pre-tokens, counted in `unit`.

        No stage may drop text; the caller checks this. Otherwise the boundaries would have gaps.
        """
        text = as_str(data)
        widths = np.zeros(len(text) + 1, np.int64)
        np.cumsum(widths_of(code_points_of(text), unit, isinstance(data, str)), out=widths[1:])
        bounds: NDArray[np.int64] = widths[np.append(0, self.steps(text).ends)]
        return bounds

    def count(self, data: str | bytes) -> int:
        """Return the number of pre-tokens."""
        text = as_str(data)
        return len(self.steps(text).ends)

    def split(self, text: str) -> list[str]:
        """Return the pre-tokens of `text`."""
        starts, ends, _ = self.steps(text)
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [text[start:end] for start, end in spans]


def _cut(
    machine: Machine, stage: Stage, before: int, piece: str, offset: int, rule: int
) -> list[tuple[int, int, int]]:
    """Return (start, end, rule index) of each part into which `stage` splits `piece`.

    `piece` starts at code point `offset` of the text. `rule` is the index of the rule that matched
    `piece` in an earlier stage; GAP if no rule did. `before` is the number of rules of all earlier
    stages. The rule of a part is the first rule of this stage that matched in the part, or else
    `rule`.
    """
    ends, rules = machine.ends_and_rules(piece)
    starts = [0, *ends][:-1]
    spans = zip(starts, ends, (inner != GAP for inner in rules), strict=True)
    parts = []
    first = 0
    for start, end, _ in apply_behavior(spans, stage.behavior, stage.invert):
        first, last = bisect_left(starts, start, first), bisect_left(starts, end, first)
        inner = next((index for index in rules[first:last] if index != GAP), GAP)
        parts.append((offset + start, offset + end, rule if inner == GAP else before + inner))
    return parts
