"""A piece of a text that remembers where each of its characters comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Piece(NamedTuple):
    """Text whose character `i` stands for the code points `starts[i]` to `ends[i]` of the original.

    What only cuts texts leaves them ranges; a character that was put in stands for those of the
    one that it was put beside.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def whole(cls, text: str) -> Piece:
        """Return `text` as a piece of itself."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    @property
    def span(self) -> tuple[int, int]:
        """The half-open span of the original that the piece stands for, in code points."""
        return (self.starts[0], self.ends[-1]) if self.text else (0, 0)

    def part(self, start: int, end: int) -> Piece:
        """Return the characters from `start` to `end` as a piece."""
        return Piece(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def behind(self, prefix: str) -> Piece:
        """Return the piece, which must not be empty, with one character put before it."""
        return Piece(prefix + self.text, [self.starts[0], *self.starts], [self.ends[0], *self.ends])

    def spelt(self, spellings: Sequence[str]) -> Piece:
        """Return the piece with each character spelt as the one or more in `spellings`."""
        sizes = list(map(len, spellings))
        return Piece(
            "".join(spellings),
            [start for start, size in zip(self.starts, sizes, strict=True) for _ in range(size)],
            [end for end, size in zip(self.ends, sizes, strict=True) for _ in range(size)],
        )
