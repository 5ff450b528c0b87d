"""Define Machine, the pure Python backend: at each position the first matching rule wins.

A class is a set of code points that all rules treat alike (pretok.charsets.alphabet), and a mask is
a set of classes. cpp/core/split/machine.hpp declares the C++ form of the machine. cpp/bindings
exports the C++ form as the class pretok._core.Machine, which has the same methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pretok.charsets.alphabet import END
from pretok.charsets.classified_text import OUT, UNDECIDED, UNLIMITED, Classifier
from pretok.machine.program import Program
from pretok.rules import Matcher
from pretok.text import ESCAPE, as_str, code_points_of

if TYPE_CHECKING:
    from pretok import _core

Unit = Literal["char", "byte", "utf16"]
Backend: TypeAlias = "Machine | _core.Machine"
"""A backend of one stage. It can also split a text that comes in parts."""
GAP = -1
"""Rule index of a pre-token that no rule matched."""
WINDOW = 1 << 20
"""Number of code points that `Machine` classifies at once; more only for a longer pre-token."""


class Steps(NamedTuple):
    """Pre-tokens: starts and ends in code points, and rule indices (GAP if no rule matched)."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    rules: NDArray[np.int32]


class Advance(NamedTuple):
    """The decided pre-tokens of a text that may continue.

    `ends` are the ends of the decided pre-tokens, in code points; `rules` are the indices of their
    rules. The text from `resume` on is undecided. If `in_gap` is true, the text between the last
    end and `resume` belongs to a gap (text that no rule matches), which may continue.

    The text from `resume` on stays undecided while fewer than `pending_limit` code points follow
    it, all with classes in `pending_mask`.

    If `rule` is not GAP, a match of this rule starts at `resume` and ends at `restart` or later. To
    find the end, call `advance` with this `rule` and with the text from `restart` on.
    """

    ends: list[int]
    rules: list[int]
    resume: int
    in_gap: bool
    rule: int
    restart: int
    pending_limit: int
    pending_mask: int


class PythonSplitter(ABC):
    """A backend in pure Python: split_bytes and split_batch call `split`."""

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """Return the pre-tokens of `text`."""

    def split_bytes(self, data: bytes) -> list[bytes]:
        """Return the pre-tokens of `data`."""
        return [part.encode("utf-8", ESCAPE) for part in self.split(data.decode("utf-8", ESCAPE))]

    def split_batch(self, texts: Sequence[str], threads: int) -> list[list[str]]:
        """Return the pre-tokens of each text; pure Python ignores `threads`."""
        return [self.split(text) for text in texts]


class Machine(PythonSplitter):
    """Splits with a program of rules in one Unicode version. Immutable.

    Each method takes time linear in the length of the text.
    """

    def __init__(self, program: Program, version: str) -> None:
        alphabet = program.alphabet
        self._classifier = Classifier(alphabet, version)
        # Maps a class to the rules whose matches may begin with a code point of this class, each
        # as (index of the rule, matcher).
        self._candidates: list[list[tuple[int, Matcher]]] = [[] for _ in range(END + 1)]
        self._matchers: list[Matcher] = []
        for index, rule in enumerate(program.rules):
            match = rule.matcher(alphabet)
            self._matchers.append(match)
            for class_ in range(alphabet.size):
                if any(alphabet.mask(chars) >> class_ & 1 for chars in rule.first()):
                    self._candidates[class_].append((index, match))

    def advance(self, chars: str, partial: bool, in_gap: bool = False, rule: int = GAP) -> Advance:
        """Split `chars` up to the first pre-token that later text could change.

        If `partial` is false, no text follows `chars`, so `chars` is split to the end. `in_gap` is
        true if `chars` continues a gap. If `rule` is not GAP, only this rule is tried at the start
        of `chars` (see `Advance`).
        """
        text = self._classifier.text(chars, partial)
        candidates, classes, size = self._candidates, text.classes, text.size
        ends: list[int] = []
        rules: list[int] = []
        position = 0
        first = [(rule, self._matchers[rule])] if rule != GAP else candidates[classes[0]]
        while position < size:
            for rule, match in candidates[classes[position]] if position else first:
                end = match(text, position)
                if end >= 0:
                    if in_gap:
                        in_gap = False
                        ends.append(position)
                        rules.append(GAP)
                    ends.append(end)
                    rules.append(rule)
                    position = end
                    break
                if end == UNDECIDED:
                    if text.restart <= position:
                        # `rule` needs its whole match again, so all rules are tried again.
                        rule, restart = GAP, position
                    else:
                        restart = text.restart
                    return Advance(
                        ends,
                        rules,
                        position,
                        in_gap,
                        rule,
                        restart,
                        text.pending_limit,
                        text.pending_mask,
                    )
            else:
                in_gap = True
                position += 1
        if in_gap and not partial:
            in_gap = False
            ends.append(size)
            rules.append(GAP)
        return Advance(ends, rules, size, in_gap, GAP, size, UNLIMITED, 0)

    def run_length(self, chars: str, mask: int) -> int:
        """Return the length of the longest prefix of `chars` whose classes are all in `mask`."""
        # The members end with an OUT for the end of the text, so `find` never returns -1.
        return self._classifier.text(chars, partial=False).members[mask].find(OUT)

    def _windows(self, chars: str) -> Iterator[tuple[int, str, Advance]]:
        """Yield (start, text, Advance) of each window of `chars`.

        A window is a part of `chars` that is split at once. Windows bound the memory for classes.
        """
        start, window, in_gap = 0, WINDOW, False
        while start < len(chars) or in_gap:
            part = chars[start : start + window]
            done = self.advance(part, start + window < len(chars), in_gap)
            yield start, part, done
            # If `resume` is 0, the first pre-token is longer than the window. Doubling the window
            # then keeps the total time linear.
            window = WINDOW if done.resume else window * 2
            start += done.resume
            in_gap = done.in_gap

    def steps(self, text: str) -> Steps:
        """Return the pre-tokens of `text` with their rules."""
        ends, rules = self._ends_and_rules(text)
        bounds = np.array([0, *ends], np.int64)
        return Steps(bounds[:-1], bounds[1:], np.array(rules, np.int32))

    def offsets(self, data: str | bytes, unit: Unit) -> NDArray[np.int64]:
        """Return the n + 1 boundaries of the n pre-tokens, counted in `unit`."""
        text = as_str(data)
        # `before` is the width of all earlier windows.
        bounds, before = [np.zeros(1, np.int64)], 0
        for _, part, done in self._windows(text):
            widths = np.zeros(done.resume + 1, np.int64)
            np.cumsum(
                widths_of(code_points_of(part[: done.resume]), unit, isinstance(data, str)),
                out=widths[1:],
            )
            bounds.append(widths[np.array(done.ends, np.int64)] + before)
            before += int(widths[-1])
        return np.concatenate(bounds)

    def count(self, data: str | bytes) -> int:
        """Return the number of pre-tokens."""
        text = as_str(data)
        return sum(len(done.ends) for _, _, done in self._windows(text))

    def _ends_and_rules(self, text: str) -> tuple[list[int], list[int]]:
        """Return the ends and the rule indices of all pre-tokens."""
        ends: list[int] = []
        rules: list[int] = []
        for start, _, done in self._windows(text):
            ends += [start + end for end in done.ends]
            rules += done.rules
        return ends, rules

    def split(self, text: str) -> list[str]:
        """Return the pre-tokens of `text`."""
        bounds = [0, *self._ends_and_rules(text)[0]]
        return [text[start:end] for start, end in pairwise(bounds)]


def widths_of(points: NDArray[np.uint32], unit: Unit, from_str: bool) -> NDArray[np.int64]:
    """Return the width of each code point in `points`, in `unit`.

    If `from_str` is false, U+DC80 to U+DCFF stand for invalid bytes, which have width 1.
    """
    if unit == "char":
        return np.ones(len(points), np.int64)
    widths = 1 + (points >= 0x10000).astype(np.int64)
    if unit == "byte":
        widths += (points >= 0x80).astype(np.int64) + (points >= 0x800)
        if not from_str:  # these surrogates stand for invalid bytes
            widths[(points >= 0xDC80) & (points <= 0xDCFF)] = 1
    return widths
