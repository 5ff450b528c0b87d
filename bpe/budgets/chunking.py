"""Divide a text into chunks of at most a number of ids."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.budgets.borders import (
    SENTENCE_KINDS,
    BorderFinder,
    Borders,
    ChunkKind,
    ListedBorders,
    ended,
)
from bpe.budgets.reader import BorderKind, Reader, kinds_of
from bpe.budgets.search import Part, Search, gallop
from bpe.budgets.source import view
from bpe.budgets.texts import Utf8
from bpe.errors import shortened
from bpe.types import Offsets

if TYPE_CHECKING:
    from pretok._core import Chunks

MAX_RUN = 1024
"""The maximal number of chunks that C++ finds in one call."""


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
        self._reader, self._on = reader, on
        self._source = source = reader.source(text, starts)
        self._all_ends = ends = reader.ends(source, text)
        self._ends = view(ends.ends)
        self._search = Search(source, ends, room)
        self._native = reader.native_chunks(source, text, ends, room)
        # The borders of the kind, then of finer kinds; the finer ones are found when needed.
        self._kinds = kinds_of(on)
        self._levels: list[Borders | None] = []
        self._add_level()

    def __iter__(self) -> Iterator[Chunk]:
        if self._native is not None and not self._overlap:
            return self._native_parts(self._native)
        return self._parts()

    def _native_parts(self, native: Chunks) -> Iterator[Chunk]:
        """Yield the chunks if they do not overlap, with C++."""
        text, done, added = self._text, self._source.size, self._added
        place = start = 0  # in bytes, and in the units of the text
        while place < done:
            place, start, chunks = native.run(place, start, MAX_RUN, added, Chunk)
            yield from chunks
            if len(chunks) < MAX_RUN and place < done:
                # No border of the kinds so far is near enough.
                text.move(place, start)
                part = self._finer(place)
                chunk = Chunk(*text.part_at(place, part.end), part.size + added)
                yield chunk
                place, start = part.end, chunk.end

    def _parts(self) -> Iterator[Chunk]:
        """Yield the chunks."""
        source, text, at_tokens = self._source, self._text, self._kinds[0] == "token"
        ends, index = self._ends, self._search.index
        start, end, done, added = 0, 0, source.size, self._added
        known = at_tokens and not self._overlap
        at = index(0) if known else -1
        while end < done:
            following = self._search.following(at) if at >= 0 else 0
            if following:
                # Most chunks of tokens: both ends are known not to change any ids.
                size, at, end = following - at, following, ends[following - 1]
                yield Chunk(*text.part_at(start, end), size + added)
                start = end
                continue
            part = self._longest(start, 0, end)
            if part is None:
                # The overlap leaves no room, or no border of this kind is near enough.
                start = end
                part = self._finer(start)
            end, size = part
            yield Chunk(*text.part_at(start, end), size + added)
            if self._overlap:
                start = self._next_start(start, end) if end < done else end
            else:
                start, at = end, index(end) if known else -1

    def _finer(self, start: int) -> Part:
        """Return the longest part from `start` to a border of the coarsest kind that has one."""
        for level in range(len(self._kinds)):
            if level == len(self._levels):
                self._add_level()
            part = self._longest(start, level, start)
            if part is not None:
                return part
        raise self._too_long(start)

    def _longest(self, start: int, level: int, floor: int) -> Part | None:
        """Return the longest part from `start` to a border of a level after `floor`, or None."""
        if self._native is not None:
            found = self._native.longest(start, level, floor)
            return None if found is None else Part(*found)
        at_tokens = self._kinds[level] == "token"
        return self._search.longest(start, self._borders(level), floor, at_tokens)

    def _add_level(self) -> None:
        """Find the borders of the next kind."""
        level = len(self._levels)
        self._levels.append(None)
        if self._native is None:
            self._borders(level)
            return
        kind = self._reader.native_kind(self._kinds[level], self._source)
        if kind == "sentence":
            self._native.add_sentences(SENTENCE_KINDS)
            return
        places = None
        if kind == "places":
            places = ended(self._places(self._kinds[level]), self._source.size)
        self._native.add_borders(kind, places)

    def _borders(self, level: int) -> Borders:
        """Return the borders of a level for Python."""
        borders = self._levels[level]
        if borders is None:
            kind = self._kinds[level]
            borders = self._source
            if kind != "character":
                borders = ListedBorders(self._source, self._places(kind))
            self._levels[level] = borders
        return borders

    def _places(self, kind: BorderKind) -> NDArray[np.signedinteger[Any]]:
        return self._reader.places(kind, self._source, self._text, self._all_ends, self._on)

    def _next_start(self, start: int, end: int) -> int:
        """Return a border from which the text to `end` has at most `overlap` ids, or `end`.

        From the border before it, the text has more ids, or begins at `start` or earlier.
        """
        source = self._source

        def fits(place: int) -> bool:
            return source.count(place, end) <= self._overlap

        at = bisect_left(self._ends, end) - self._overlap
        guess = self._ends[at] if at >= 0 else start
        return gallop(fits, self._borders(0), end, start, guess)[0]

    def _too_long(self, start: int) -> ValueError:
        source = self._source
        end = source.after(start)
        count = source.count(start, end) + self._added
        return ValueError(
            f"{shortened(self._text.part(start, end))} at offset {self._text.char(start)} has "
            f"{count} ids, more than n={self._room + self._added}; pass a larger n"
        )
