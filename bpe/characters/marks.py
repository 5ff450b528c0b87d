"""Define the texts of pieces that stand for spaces and bytes, and cut text at "▁"."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

SPACE_MARK = "\u2581"
"""The character ▁, which stands for a space in pieces."""
BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The texts of fallback tokens."""


def cut_at_marks(text: str) -> list[str]:
    """Return the parts of `text`, which is cut before each run of "▁".

    If the vocabulary allows cuts, no merge crosses from one part to the next.
    """
    cuts = [0]
    at = text.find(SPACE_MARK, 1)
    while at > 0:
        if text[at - 1] != SPACE_MARK:
            cuts.append(at)
        at = text.find(SPACE_MARK, at + 1)
    return [text[start:end] for start, end in pairwise([*cuts, len(text)])] if text else []


def allows_cuts(pieces: Collection[str]) -> bool:
    """Return whether "▁" is a piece, and pieces have "▁" only at their start.

    Then no merge joins another character to a "▁" that follows it.
    """
    return SPACE_MARK in pieces and not any(
        SPACE_MARK in text.lstrip(SPACE_MARK) for text in pieces
    )
