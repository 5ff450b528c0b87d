"""Bound how much a chain of normalizers grows a text, so that a file cannot choose any growth.

cpp/core/normalize/growth.cpp has the same bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

MAX_GROWTH = 1024
"""The maximal number of bytes that normalizers or decoders make of one byte.

It is also the maximal number of bytes that their regexes read for one byte. Published normalizers
make at most 143 bytes: 11 (NFKD) times 13 (Precompiled). MetaspaceStep is not counted.
"""


class Growth:
    """The maximal size of a text after some steps, in bytes for each byte of the original text.

    Unicode forms and lower case grow a text only once, however often they are applied: there is a
    finite number of characters that they make of a character. So `spell` takes the maximum of its
    arguments, until a step writes characters that a later step may grow again.
    """

    def __init__(self) -> None:
        self._base = 1
        self._added = 0
        self._spelled = 1
        self._chinese = 0

    @property
    def bytes(self) -> int:
        """The bound."""
        spaced = self._spelled * (3 + 2 * self._chinese)  # a Chinese character has three bytes
        return -(-self._base * spaced // 3) + self._added

    def spell(self, factor: int) -> None:
        """Add a step that makes at most `factor` bytes of one, and repeated no more than that."""
        self._spelled = max(self._spelled, factor)

    def space_chinese(self) -> None:
        """Add a step that puts two spaces around each Chinese character."""
        self._chinese += 1

    def multiply(self, factor: int, is_stable: bool) -> None:
        """Add a step that makes at most `factor` bytes of one.

        `is_stable` says that neither `spell` nor `space_chinese` grows the characters it writes.
        """
        if not is_stable:
            self._write_any()
        self._base *= factor
        self._added *= factor

    def add(self, size: int, is_stable: bool) -> None:
        """Add a step that writes `size` bytes once, before a text of at least one byte."""
        self._added += size
        if not is_stable:
            self._write_any()

    def _write_any(self) -> None:
        self._base, self._added, self._spelled, self._chinese = self.bytes, 0, 1, 0


class GrowingStep(Protocol):
    """A step, as bpe.normalizers.step.Step defines it."""

    @property
    def name(self) -> str:
        """Its name in an error."""

    @property
    def has_regex(self) -> bool:
        """True if it searches for matches of a regex."""

    def grow(self, growth: Growth, /) -> None:
        """Add its growth."""


def utf8_size(text: str) -> int:
    """Return the size of a text in UTF-8, in bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def find_excess(steps: Iterable[GrowingStep], unit: str) -> tuple[int, str]:
    """Return the growth of `steps`, and "" or a predicate that says which limit they pass.

    The growth is the maximal number of bytes that the steps make of one byte of a `unit`, which is
    "text" for normalizers and "token" for decoders.
    """
    growth = Growth()
    read = 0
    for place, step in enumerate(steps, 1):
        read += growth.bytes if step.has_regex else 0
        step.grow(growth)
        problem = ""
        if growth.bytes > MAX_GROWTH:
            problem = f"make up to {growth.bytes} bytes of one byte of a {unit}"
        elif read > MAX_GROWTH:
            problem = f"read up to {read} bytes with regexes for one byte of a {unit}"
        if problem:
            where = f"at step {place} ({step.name}); expected at most {MAX_GROWTH}"
            return growth.bytes, f"{problem}, {where}"
    return growth.bytes, ""


def problem_of_growth(steps: Iterable[GrowingStep]) -> str:
    """Return "", or the predicate of a sentence about normalizers that grow a text too much."""
    return find_excess(steps, "text")[1]


def growth_of(steps: Iterable[GrowingStep]) -> int:
    """Return the maximal number of bytes that normalizers make of one byte."""
    return find_excess(steps, "text")[0]
