"""Define RangedTokens, which searches each range of a text for the added tokens of that range.

Tokenizer.encode_segments searches the text of all segments together. AddedTokens in
cpp/core/encode/added.hpp is the C++ version, with the same results.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from bpe.encoding.added_tokens import (
    AddedToken,
    AddedTokens,
    Match,
    Segment,
    Segments,
    listed,
    split_by_phases,
)

if TYPE_CHECKING:
    from pretok import _core


@dataclass(frozen=True)
class TextRange:
    """A range of a text, from the end of the range before it to `end`, in bytes.

    `tokens` are searched in the range, and a match never crosses an end of it. `ids` come after the
    text of the range. Nothing crosses them: no pre-token, and no white space of a token.
    """

    end: int
    tokens: AddedTokens
    ids: Sequence[int] = ()


class RangedTokens:
    """Searches the ranges of one text. The flags of a token may look into the next range."""

    def __init__(self, ranges: Sequence[TextRange], phases: Sequence[bool] = (False, True)) -> None:
        """Store the ranges, whose ends ascend; the last one ends at the end of the text.

        A phase is the flag `normalized` of the tokens that it searches.
        """
        self._ranges = tuple(ranges)
        self._ends = [row.end for row in ranges]
        self._phases = phases

    def ends(self) -> Sequence[int]:
        """Return the ends of the ranges, in bytes."""
        return self._ends

    def exact(self) -> RangedTokens:
        """Return a search for only the tokens that are matched before normalization, and `ids`."""
        return RangedTokens(self._ranges, [phase for phase in self._phases if not phase])

    def normalized(self) -> RangedTokens | AddedTokens:
        """Return a search for only the tokens that are matched after normalization."""
        if not any(row.tokens.normalized().has_tokens for row in self._ranges):
            return AddedTokens(())
        return RangedTokens(self._ranges, [phase for phase in self._phases if phase])

    def of_part(self, start: int, end: int) -> RangedTokens:
        """Return a search for only the ranges that overlap bytes `start` to `end`."""
        first, last = bisect_right(self._ends, start), bisect_left(self._ends, end)
        return RangedTokens(self._ranges[first : last + 1], self._phases)

    def moved(self, ends: Sequence[int]) -> RangedTokens:
        """Return the search with other ends, one per range: for a text that was changed."""
        rows = zip(self._ranges, ends, strict=True)
        return RangedTokens([replace(row, end=end) for row, end in rows], self._phases)

    def segments(self, text: bytes) -> Segments:
        """Return the segments of UTF-8 up to the first refused token, and the refused token."""
        return listed(self._split(text))

    def _split(self, data: bytes) -> Iterator[Segment]:
        start = 0
        if False in self._phases:
            for row in self._ranges:
                if row.ids:
                    yield from self._split_text(data, start, row.end)
                    start = row.end
                    for id in row.ids:
                        yield Segment(start, start, AddedToken("", id))
        yield from self._split_text(data, start, len(data))

    def _split_text(self, data: bytes, start: int, end: int) -> Iterator[Segment]:
        return split_by_phases(self._phases, self._matches, data, start, end)

    def _matches(self, normalized: bool, data: bytes, start: int, end: int) -> Iterator[Match]:
        """Yield the matches of one phase within the ranges, in bytes `start` to `end`."""
        for at in range(bisect_right(self._ends, start), len(self._ranges)):
            if start >= end:
                return
            row = self._ranges[at]
            stop = min(row.end, end)
            yield from row.tokens.matches(normalized, data, start, stop)
            start = stop


WholeTextSearch: TypeAlias = "AddedTokens | _core.AddedTokens"
"""A search with the same tokens in the whole text, in Python or in C++."""
AddedTokenSearch: TypeAlias = "RangedTokens | WholeTextSearch"
"""Any search for added tokens."""
