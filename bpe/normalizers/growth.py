"""Bound how much a chain of normalizers grows a text, so that a file cannot choose any growth.

cpp/core/normalize/growth.cpp has the same bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from bpe.normalizers.characters import CHINESE, is_in, lowercase
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.steps import BertNormalizer, ByteLevel, Lowercase, Prepend, Replace, Step
from bpe.normalizers.unicode_forms import UnicodeForm

AnyStep = TypeVar("AnyStep")

MAX_GROWTH = 1024
"""The maximal number of bytes that normalizers or decoders make of one byte.

It is also the maximal number of bytes that their regexes read for one byte. Published normalizers
make at most 143 bytes: 11 (NFKD) times 13 (Precompiled). MetaspaceStep is not counted.
"""

_COMPATIBLE, _CANONICAL, _LOWER = 11, 3, 2


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


def utf8_size(text: str) -> int:
    """Return the size of a text in UTF-8, in bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def replace_factor(step: Replace) -> int:
    """Return the maximal number of bytes that a Replace makes of one, at least 1."""
    # A match of a regex has at least one byte.
    matched = 1 if step.is_regex else utf8_size(step.pattern)
    return max(1, -(-utf8_size(step.content) // matched))


def find_excess(
    steps: Iterable[AnyStep],
    add: Callable[[Growth, AnyStep], None],
    has_regex: Callable[[AnyStep], bool],
    unit: str,
) -> tuple[int, str]:
    """Return the growth of `steps`, and "" or a clause that says which limit they pass.

    `add` adds a step to a Growth.
    """
    growth = Growth()
    read = 0
    for place, step in enumerate(steps, 1):
        read += growth.bytes if has_regex(step) else 0
        add(growth, step)
        problem = ""
        if growth.bytes > MAX_GROWTH:
            problem = f"make up to {growth.bytes} bytes of one byte of a {unit}"
        elif read > MAX_GROWTH:
            problem = f"read up to {read} bytes with regexes for one byte of a {unit}"
        if problem:
            name = getattr(step, "type", type(step).__name__)
            where = f"at step {place} ({name}); expected at most {MAX_GROWTH}"
            return growth.bytes, f"{problem}, {where}"
    return growth.bytes, ""


def problem_of_growth(steps: Iterable[Step]) -> str:
    """Return "", or the predicate of a sentence about normalizers that grow a text too much."""
    return find_excess(steps, _add, _has_regex, "text")[1]


def growth_of(steps: Iterable[Step]) -> int:
    """Return the maximal number of bytes that normalizers make of one byte."""
    return find_excess(steps, _add, _has_regex, "text")[0]


def _has_regex(step: Step) -> bool:
    return isinstance(step, Replace) and step.is_regex


def _add(growth: Growth, step: Step) -> None:
    # The other normalizers replace a character by at most as many bytes.
    if isinstance(step, UnicodeForm):
        growth.spell(_COMPATIBLE if step.type in ("NFKC", "NFKD") else _CANONICAL)
    elif isinstance(step, Lowercase):
        growth.spell(_LOWER)
    elif isinstance(step, BertNormalizer):
        if step.handle_chinese_chars:
            growth.space_chinese()
        if step.strips_accents:
            growth.spell(_CANONICAL)
        if step.lowercase:
            growth.spell(_LOWER)
    elif isinstance(step, ByteLevel):
        growth.multiply(2, False)
    elif isinstance(step, Prepend):
        growth.add(utf8_size(step.prepend), _is_stable(step.prepend))
    elif isinstance(step, Replace):
        growth.multiply(replace_factor(step), _is_stable(step.content))
    elif isinstance(step, Precompiled):
        growth.multiply(step.growth, False)


def _is_stable(text: str) -> bool:
    """Return whether no Unicode form, lower case or BertNormalizer grows a character of `text`."""
    form = UnicodeForm("NFKD")
    return text.isascii() or all(
        form.normalize(char) == char and lowercase(char) == char and not is_in(CHINESE, char)
        for char in text
        if char >= "\x80"
    )
