"""Divide a text into chunks of at most a number of ids."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from bpe.budgets.borders import BorderFinder, Borders, ChunkKind
from bpe.budgets.reader import Reader
from bpe.budgets.search import Part, Search, gallop
from bpe.budgets.source import view
from bpe.budgets.texts import Utf8
from bpe.errors import shortened
from bpe.types import Offsets


class Chunk(NamedTuple):
    """A chunk of a text: text[start:end], and the number of its ids.

    `start` and `end` count code points if the text is a str, else bytes. `size` includes the ids
    of the template if they were asked for.
    """

    text: str | bytes
    start: int
    end: int
    size: int


class Chunker:
    """Yields the chunks of one text."""

    def __init__(
        self,
        reader: Reader,
        text: Utf8,
        on: ChunkKind | BorderFinder,
        room: int,
        overlap: int,
        added: int,
        starts: Offsets | None,
    ) -> None:
        """Encode the text.

        `room` is the maximal number of ids of a chunk without the template, which has `added` ids.
        Raises the errors of Tokenizer.encode.
        """
        self._text = text
        self._added = added
        self._room, self._overlap = room, overlap
        self._source = source = reader.source(text, starts)
        ends = reader.ends(source, text)
        self._ends = view(ends.ends)
        self._search = Search(source, ends, room, at_tokens=on == "token")
        self._more = reader.borders(source, text, ends, on)
        # The borders of the kind, then of finer kinds; the finer ones are found when needed.
        self._levels: list[Borders] = [next(self._more)]

    def __iter__(self) -> Iterator[Chunk]:
        source, text, longest = self._source, self._text, self._search.longest
        first, ends, index = self._levels[0], self._ends, self._search.index
        start, end, done, added = 0, 0, source.size, self._added
        at = -1 if self._overlap else index(0)
        while end < done:
            following = self._search.following(at) if at >= 0 else 0
            if following:
                # Most chunks of tokens: both ends are known not to change any ids.
                size, at, end = following - at, following, ends[following - 1]
                yield Chunk(*text.part_at(start, end), size + added)
                start = end
                continue
            part = longest(start, first, end)
            if part is None:
                # The overlap leaves no room, or no border of this kind is near enough.
                start = end
                part = self._finer(start)
            end, size = part
            yield Chunk(*text.part_at(start, end), size + added)
            if self._overlap:
                start = self._next_start(start, end) if end < done else end
            else:
                start, at = end, index(end)

    def _finer(self, start: int) -> Part:
        """Return the longest part from `start` to a border of the coarsest kind that has one."""
        at = 0
        while True:
            if at == len(self._levels):
                level = next(self._more, None)
                if level is None:
                    raise self._too_long(start)
                self._levels.append(level)
            part = self._search.longest(start, self._levels[at], start)
            if part is not None:
                return part
            at += 1

    def _next_start(self, start: int, end: int) -> int:
        """Return a border from which the text to `end` has at most `overlap` ids, or `end`.

        From the border before it, the text has more ids, or begins at `start` or earlier.
        """
        source = self._source

        def fits(place: int) -> bool:
            return source.count(place, end) <= self._overlap

        at = bisect_left(self._ends, end) - self._overlap
        guess = self._ends[at] if at >= 0 else start
        return gallop(fits, self._levels[0], end, start, guess)[0]

    def _too_long(self, start: int) -> ValueError:
        source = self._source
        end = source.after(start)
        count = source.count(start, end) + self._added
        return ValueError(
            f"{shortened(self._text.part(start, end))} at offset {self._text.char(start)} has "
            f"{count} ids, more than n={self._room + self._added}; pass a larger n"
        )
