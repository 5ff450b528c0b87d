"""Define Piece, a part of a text with its position in the original text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Piece(NamedTuple):
    """A part of a text, and the span of each character of the part in the original text.

    Character `i` of `text` comes from code points `starts[i]` to `ends[i]` (exclusive) of the
    original text. A prepended character has the span of the character after it. For unchanged text,
    `starts` and `ends` are `range` objects, which need little memory.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def whole(cls, text: str) -> Piece:
        """Return all of `text` as a piece."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    @property
    def span(self) -> tuple[int, int]:
        """The half-open span of the piece in the original text, in code points."""
        return (self.starts[0], self.ends[-1]) if self.text else (0, 0)

    def part(self, start: int, end: int) -> Piece:
        """Return the characters from `start` to `end` (exclusive) as a piece."""
        return Piece(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def with_prefix(self, prefix: str) -> Piece:
        """Return the piece, which must not be empty, with one character prepended."""
        return Piece(prefix + self.text, [self.starts[0], *self.starts], [self.ends[0], *self.ends])

    def respelled(self, spellings: Sequence[str]) -> Piece:
        """Return the piece with each character replaced by the characters of its spelling."""
        sizes = list(map(len, spellings))
        return Piece(
            "".join(spellings),
            [start for start, size in zip(self.starts, sizes, strict=True) for _ in range(size)],
            [end for end, size in zip(self.ends, sizes, strict=True) for _ in range(size)],
        )
