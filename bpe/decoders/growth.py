"""Bound how much a chain of decoders grows a token, as cpp/core/decode/decoder_growth.cpp does."""

from __future__ import annotations

from collections.abc import Iterable

from bpe.decoders.steps import CTC, ByteLevel, Replace, Spaces, Step, WordPiece
from bpe.normalizers.growth import Growth, find_excess, replace_factor

_BYTES_AS_TEXT = 2  # a character of two bytes stands for a byte, which may become U+FFFD


def problem_of_growth(steps: Iterable[Step]) -> str:
    """Return "", or the predicate of a sentence about decoders that grow a token too much."""
    return find_excess(steps, _add, has_regex, "token")[1]


def growth_of(steps: Iterable[Step]) -> int:
    """Return the maximal number of bytes that decoders make of one byte of a token."""
    return find_excess(steps, _add, has_regex, "token")[0]


def has_regex(step: Step) -> bool:
    """Return whether `step` searches for matches of a regex."""
    return isinstance(step, Replace) and step.replace.is_regex


def _add(growth: Growth, step: Step) -> None:
    # The other decoders do not grow a token.
    if isinstance(step, ByteLevel):
        growth.spell(_BYTES_AS_TEXT)
    elif isinstance(step, (Spaces, WordPiece)):
        growth.add(1, True)
    elif isinstance(step, CTC):
        if step.cleanup and not step.word_delimiter_token:  # a space around each character
            growth.multiply(2, True)
            growth.add(1, True)
    elif isinstance(step, Replace):
        # Only characters of two bytes stand for bytes.
        is_stable = not any("\x80" <= char <= "\u07ff" for char in step.replace.content)
        growth.multiply(replace_factor(step.replace), is_stable)
