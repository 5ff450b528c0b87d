"""Define Source, a text in UTF-8 with the places where it may be cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.budgets.cuts import ASCII, Cuts
from bpe.budgets.proofs import CUT, NONE, UNKNOWN
from bpe.encoding.offsets import byte_offsets
from bpe.encoding.utf8 import decode_utf8
from bpe.types import Offsets
from pretok.text import code_points_of

Ranges = list[tuple[int, int]]
Count = Callable[[bytes, bool], int]
"""(text, continuation) -> the number of its ids."""

BLOCK = 256
"""The number of places that Source tests one by one, before it looks for candidates in a window."""
WINDOW = 1 << 14
"""The number of bytes of a window."""


class Source:
    """A text in UTF-8: its characters, its proven cuts, and the number of ids of its parts.

    Positions are in bytes. A border is a place between two characters that lies in no added token.
    A cut is a border at which `cuts` proves that the ids stay the same (see bpe.budgets.cuts). Both
    ends of the text are borders and cuts. `is_normal` is false if a normalizer changes the text.
    """

    def __init__(
        self,
        data: bytes,
        cuts: Cuts | None,
        count: Count,
        tokens: Ranges,
        near: Ranges,
        is_normal: bool,
        starts: Offsets | None = None,
        is_valid: bool = False,
    ) -> None:
        """Store the text.

        `tokens` are the ranges of the added tokens, `near` those of all their possible matches.
        `is_normal` is false if a normalizer changes the text. `starts` has the places that are
        borders if they are fewer than the starts of characters. If `is_valid`, the data is known to
        be valid UTF-8.
        """
        self.data = data
        self.size = len(data)
        self.cuts = cuts
        self._count = count
        self.is_normal = is_normal
        self.blocked: bytearray | None = None
        self.has_tokens = bool(tokens)
        self._stretch = (0, 0)
        chars = None if is_valid else _invalid_starts(data)
        self._chars = None if chars is None else view(chars)
        self.is_valid = chars is None
        if starts is not None:
            chars = starts
        if tokens:
            allowed = np.ones(self.size + 1, bool)
            if chars is None:
                allowed[:-1] = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
            else:
                allowed[:] = False
                allowed[chars] = True
            for start, end in tokens:
                allowed[start + 1 : end] = False
            chars = np.flatnonzero(allowed)
        self.borders = chars
        self._borders = None if chars is None else view(chars)
        if cuts is not None and near:
            # No added token may hold or touch the place of a cut, even one that a longer match
            # hides. Such a token overlaps a match, so it lies within `longest_added` bytes of one.
            blocked, reach = np.zeros(self.size + 1, bool), cuts.longest_added + 1
            for start, end in near:
                blocked[max(0, start - reach) : end + reach + 1] = True
            self.blocked = bytearray(blocked.tobytes())

    def max_size(self, ids: int) -> int | None:
        """Return a number of bytes that no `ids` ids exceed, or None if none is known."""
        if self.cuts is None or self.cuts.longest is None or not self.is_normal:
            return None
        return ids * self.cuts.longest

    def count_text(self, data: bytes) -> int:
        """Return the number of ids of another text."""
        return self._count(data, False)

    def count(self, start: int, end: int) -> int:
        """Return the number of ids of a part as a text of its own."""
        return self._count(self.data[start:end], False)

    def count_after(self, start: int, end: int) -> int:
        """Return the number of ids of a part that continues other text."""
        return self._count(self.data[start:end], True)

    def is_border(self, place: int) -> bool:
        """Return whether `place` is a border."""
        if self._borders is not None:
            at = bisect_left(self._borders, place)
            return at < len(self._borders) and self._borders[at] == place
        return place == self.size or self.data[place] & 0xC0 != 0x80

    def before(self, place: int) -> int:
        """Return the last border before `place`, or -1."""
        if self._borders is not None:
            at = bisect_left(self._borders, place)
            return int(self._borders[at - 1]) if at else -1
        place -= 1
        while place > 0 and self.data[place] & 0xC0 == 0x80:
            place -= 1
        return place

    def after(self, place: int) -> int:
        """Return the first border after `place`, which is before the end of the text."""
        if self._borders is not None:
            return int(self._borders[bisect_right(self._borders, place)])
        place += 1
        while place < self.size and self.data[place] & 0xC0 == 0x80:
            place += 1
        return place

    def is_cut(self, place: int) -> bool:
        """Return whether a cut at `place` is proven."""
        return self.proven(place) == CUT

    def proven(self, place: int) -> int:
        """Return what is proven for `place`; NONE if it lies in a character or near a token."""
        if place in (0, self.size):
            return CUT
        cuts = self.cuts
        if cuts is None:
            return NONE
        data = self.data
        if self.blocked is not None and self.blocked[place]:
            return NONE
        before, after = data[place - 1], data[place]
        if before < ASCII and after < ASCII:
            if not self.is_normal and place + 1 < self.size and data[place + 1] >= ASCII:
                return NONE  # the normalizer may join the character with a mark after it
            known = cuts.ascii[before << 7 | after]
            return known if known != UNKNOWN else cuts.between_ascii(before << 7 | after)
        if not self.is_normal or not self.is_border(place):
            return NONE
        start, end = self._neighbors(place)
        return cuts.between_bytes(data[start:end], place - start)

    def _neighbors(self, place: int) -> tuple[int, int]:
        """Return the start of the character before a border, and the end of the one after it."""
        if self._chars is not None:
            at = bisect_left(self._chars, place)
            start, end = self._chars[at - 1], self._chars[at + 1]
        else:
            data, size = self.data, self.size
            start, end = place - 1, place + 1
            while start > 0 and data[start] & 0xC0 == 0x80:
                start -= 1
            while end < size and data[end] & 0xC0 == 0x80:
                end += 1
        return start, end

    def stretch(self, place: int) -> tuple[int, int]:
        """Return the last cut at or before `place`, and the first cut after it.

        `place` is before the end of the text. Keeps the last result, so that a long stretch is
        searched once.
        """
        start, end = self._stretch
        if not start <= place < end:
            self._stretch = start, end = self._cut_before(place), self._cut_after(place)
        return start, end

    def _cut_before(self, place: int) -> int:
        """Return the last cut at or before `place`."""
        if self.cuts is None:
            return 0
        for at in range(place, max(place - BLOCK, 0), -1):
            if self.is_cut(at):
                return at
        for end in range(max(place - BLOCK, 0), 0, -WINDOW):
            cuts = self._cuts_in(max(end - WINDOW, 0), end)
            if cuts:
                return cuts[-1]
        return 0

    def _cut_after(self, place: int) -> int:
        """Return the first cut after `place`."""
        if self.cuts is None:
            return self.size
        for at in range(place + 1, min(place + BLOCK, self.size)):
            if self.is_cut(at):
                return at
        for start in range(min(place + BLOCK, self.size) - 1, self.size, WINDOW):
            cuts = self._cuts_in(start, min(start + WINDOW, self.size))
            if cuts:
                return cuts[0]
        return self.size

    def _cuts_in(self, start: int, end: int) -> list[int]:
        """Return the cuts in start < place <= end."""
        assert self.cuts is not None, "without cuts there are no candidates"
        data, size = self.data, self.size
        if self.is_valid and self.is_normal:
            # Decode whole characters around all places, and look up all neighbors at once.
            while start > 0 and data[start] & 0xC0 == 0x80:
                start -= 1
            last = min(end + 1, size)
            while last < size and data[last] & 0xC0 == 0x80:
                last += 1
            bytes_ = np.frombuffer(data, np.uint8)[start:last]
            points = code_points_of(decode_utf8(data[start:last]))
            if len(points) < 2:
                return []
            starts = start + np.flatnonzero((bytes_ & 0xC0) != 0x80)
            places = starts[1:][self.cuts.proofs.are_cuts(points)]
            found = places[places <= end].tolist()
        else:
            window = np.frombuffer(data, np.uint8)[start : min(end + 1, size)]
            before, after = window[:-1], window[1:]
            table = np.frombuffer(self.cuts.ascii, np.uint8)
            proven = table[(before.astype(np.uint16) << 7 | after) & (ASCII * ASCII - 1)]
            pairs = (proven == CUT) | (proven == UNKNOWN)
            may_be = np.where((before | after) < ASCII, pairs, (after & 0xC0) != 0x80)
            found = (start + 1 + np.flatnonzero(may_be)).tolist()
            return [place for place in found if self.is_cut(place)]
        if self.blocked is None and self.borders is None:
            return list(found)
        return [place for place in found if self.is_cut(place)]


def view(places: NDArray[np.signedinteger[Any]]) -> memoryview[int]:
    """Return `places` as a sequence of ints, which `bisect` reads without making arrays."""
    return memoryview(np.ascontiguousarray(places))  # type: ignore[arg-type]


def _invalid_starts(data: bytes) -> Offsets | None:
    """Return the starts of characters if `data` is not valid UTF-8, else None."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return byte_offsets(decode_utf8(data))
    return None
