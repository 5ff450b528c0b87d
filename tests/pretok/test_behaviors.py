"""Behaviors equal those of tokenizers' Split, for every string over a small alphabet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

from pretok.behaviors import BEHAVIORS, Behavior, Part, apply_behavior
from pretok.errors import DefinitionError

TEXTS = ["".join(chars) for size in range(7) for chars in product("abc", repeat=size)]
# Matches that are single, adjacent, longer than one character, or empty.
PATTERNS = ("a", "ab|c", "a+|c", "(?=b)", "c|(?=ab)", "(?<=a)")


def matches(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the matches like Oniguruma, which skips an empty match at the end of another match."""
    last = -1
    for found in re.finditer(pattern, text):
        start, end = found.span()
        if start < end or start != last:
            yield start, end
        last = end


def spans(pattern: str, text: str) -> Iterator[Part]:
    last = 0
    for start, end in matches(pattern, text):
        if last < start:
            yield last, start, False
        yield start, end, True
        last = end
    if last < len(text):
        yield last, len(text), False


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_every_behavior_is_that_of_hugging_face(
    behavior: Behavior, invert: bool, pattern: str
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), behavior, invert)
    for text in TEXTS:
        kept = apply_behavior(spans(pattern, text), behavior, invert)
        wanted = [offsets for _, offsets in split.pre_tokenize_str(text)]
        assert [(start, end) for start, end, _ in kept] == wanted, text


M, U = True, False  # matched, unmatched


@pytest.mark.parametrize(
    ("behavior", "invert", "flags"),
    [
        ("isolated", False, [U, M, M, U]),
        ("isolated", True, [M, U, U, M]),
        ("removed", False, [U, U]),
        ("removed", True, [U, U]),
        ("merged_with_previous", False, [M, M, U]),
        ("merged_with_previous", True, [M, U, M]),
        ("merged_with_next", False, [U, M, M]),
        ("merged_with_next", True, [M, U, M]),
        ("contiguous", False, [U, M, U]),
        ("contiguous", True, [M, U, M]),
    ],
)
def test_parts_are_marked_if_they_have_a_match(
    behavior: Behavior, invert: bool, flags: list[bool]
) -> None:
    given = [(0, 2, U), (2, 3, M), (3, 4, M), (4, 6, U)]
    assert [matched for _, _, matched in apply_behavior(given, behavior, invert)] == flags


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_parts_come_as_soon_as_they_are_known(behavior: Behavior) -> None:
    taken = 0

    def endless() -> Iterator[Part]:
        nonlocal taken
        while True:
            yield taken, taken + 1, taken % 2 == 0
            taken += 1

    kept = apply_behavior(endless(), behavior)
    for _ in range(3):
        next(kept)
    assert taken < 8


def test_another_behavior_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"behavior='Isolated'; expected one of"):
        apply_behavior([], "Isolated")  # type: ignore[arg-type]
