"""Run several stages in pure Python: each stage splits the pieces of the previous stage.

cpp/core/split/pre_tokenizer.hpp declares the C++ class that returns equal results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pretok.machine import machine
from pretok.machine.machine import Machine, PythonSplitter, Steps, Unit, widths_of
from pretok.machine.program import compile_rules
from pretok.machine.stream import IndexedPreToken, Stream
from pretok.stage import Stage
from pretok.text import as_str, code_points_of


class StagedMachine(PythonSplitter):
    """Splits with several stages in one Unicode version, as a Stream does. Immutable.

    Each method takes time linear in the length of the text.
    """

    def __init__(self, stages: Sequence[Stage], version: str) -> None:
        self._stages = stages
        self._machines = [Machine(compile_rules(stage.rules), version) for stage in stages]

    def _pre_tokens(self, text: str) -> list[IndexedPreToken]:
        """Return the pre-tokens of `text`, which a stream gets in windows to bound the memory."""
        stream = Stream(self._machines, self._stages)
        size = machine.WINDOW
        windows = [text[at : at + size] for at in range(0, max(len(text), 1), size)]
        pre_tokens: list[IndexedPreToken] = []
        for number, window in enumerate(windows, 1):
            pre_tokens += stream._pre_tokens(window, last=number == len(windows))
        return pre_tokens

    def steps(self, text: str) -> Steps:
        """Return the pre-tokens of `text` with their rules.

        A part that no rule of a stage matched keeps the rule of the previous stage.
        """
        rows = [(start, start + len(part), rule) for start, part, rule in self._pre_tokens(text)]
        table = np.array(rows, np.int64).reshape(-1, 3)
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
        return len(self._pre_tokens(as_str(data)))

    def split(self, text: str) -> list[str]:
        """Return the pre-tokens of `text`."""
        return [part for _, part, _ in self._pre_tokens(text)]
