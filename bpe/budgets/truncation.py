"""Truncate texts to a number of ids, and count ids up to a number."""

from __future__ import annotations

from typing import TypeAlias

from bpe.budgets.reader import Reader
from bpe.budgets.search import Search
from bpe.budgets.texts import Utf8
from bpe.errors import SpecialTokenError
from bpe.types import Errors, Offsets

Sliced: TypeAlias = str | bytes
FIRST_WINDOW = 256
"""The number of characters of the first window, besides WINDOW_FACTOR for each id."""
WINDOW_FACTOR = 8
"""Most texts have fewer characters for each id, so the first window has too many ids."""


class Truncator:
    """Truncates one text, or counts its ids up to a number.

    It reads windows at the start or at the end of the text. Each window is twice as long as the one
    before. If the part of a window up to a proven cut has too many ids, a longer part of the text
    has too many as well, so no more of the text is read. Without proven cuts, and for graphemes,
    the window is the whole text.
    """

    def __init__(
        self, reader: Reader, text: Sliced, errors: Errors, starts: Offsets | None = None
    ) -> None:
        """Store the text; `starts` has the starts of its graphemes in bytes, or is None."""
        self._reader = reader
        self._text = text
        self._errors = errors
        self._starts = starts
        cuts = reader.cuts
        # A token that begins in the window may end after it.
        self._margin = 0 if cuts is None else cuts.longest_added + 8
        self._has_windows = cuts is not None and starts is None

    def count_up_to(self, limit: int) -> int:
        """Return the number of ids, or `limit` + 1 if there are more."""
        window, is_whole = self._head(limit)
        return min(self._count(window), limit + 1) if is_whole else limit + 1

    def head(self, room: int) -> int:
        """Return the end of the longest start of the text with at most `room` ids."""
        window, is_whole = self._head(room)
        if is_whole and self._count(window) <= room:
            return len(self._text)
        source = self._reader.source(window, self._starts)
        ends = self._reader.ends(source, window)
        part = Search(source, ends, room).longest(0, source, 0)
        return 0 if part is None else window.char(part.end)

    def tail(self, room: int, lead: str | bytes = "") -> int:
        """Return the start of the longest end of the text with at most `room` ids.

        `lead` comes before the end, and its ids count too. Returns -1 if they are too many.
        """
        window, start = self._tail(room)
        before = Utf8(lead, self._errors).data
        if not start and not before and self._count(window) <= room:
            return 0
        # After another `lead`, NFC may change characters that are not ASCII.
        source = self._reader.source(window, self._starts, only_ascii=bool(before))
        ends = self._reader.ends(source, window, start > 0 or bool(before))
        part = Search(source, ends, room).suffix(before, source)
        return -1 if part is None else start + window.char(part.end)

    def _head(self, room: int) -> tuple[Utf8, bool]:
        """Return a start of the text with more than `room` ids that ends at a cut.

        Otherwise returns the text and True.
        """
        width = WINDOW_FACTOR * room + FIRST_WINDOW
        while self._has_windows and width < len(self._text):
            window = Utf8(self._text[: _border(self._text, width)], self._errors)
            source = self._reader.source(window)
            cut = source.stretch(max(0, source.size - self._margin))[0]
            if cut and self._count(window, 0, cut) > room:
                return Utf8(window.part(0, cut), self._errors), False
            width *= 2
        return Utf8(self._text, self._errors), True

    def _tail(self, room: int) -> tuple[Utf8, int]:
        """Return an end of the text with more than `room` ids that starts at a cut, and the start.

        Otherwise returns the text and 0.
        """
        width = WINDOW_FACTOR * room + FIRST_WINDOW
        while self._has_windows and width < len(self._text):
            start = _border(self._text, len(self._text) - width)
            window = Utf8(self._text[start:], self._errors)
            source = self._reader.source(window)
            cut = source.stretch(min(self._margin, source.size - 1))[1]
            if cut < source.size and self._count(window, cut, source.size, start) > room:
                start += window.char(cut)
                return Utf8(self._text[start:], self._errors), start
            width *= 2
        return Utf8(self._text, self._errors), 0

    def _count(self, window: Utf8, start: int = 0, end: int | None = None, shift: int = 0) -> int:
        """Return the number of ids of a part of a window, which begins at `shift` in the text."""
        try:
            return self._reader.count(window.data[start:end], continuation=start > 0)
        except SpecialTokenError as error:
            position = shift + window.char(start + error.position)
            raise SpecialTokenError(error.token, position) from None


def _border(text: Sliced, place: int) -> int:
    """Return a place at or before `place` that is in no character and in no surrogate pair."""
    if isinstance(text, str):
        is_inside = place and "\udc00" <= text[place] < "\ue000" and text[place - 1] >= "\ud800"
        return place - bool(is_inside and text[place - 1] < "\udc00")
    for at in range(place, max(place - 4, 0), -1):
        if text[at] & 0xC0 != 0x80:
            return at
    return place


def joined(*parts: Sliced) -> Sliced:
    """Return the parts as one text; all are str, or all are bytes."""
    return type(parts[0])().join(parts)  # type: ignore[arg-type]


def middle(
    reader: Reader, text: Sliced, errors: Errors, starts: Offsets | None, room: int, between: Sliced
) -> tuple[int, int]:
    """Return the end of the start, and the start of the end, which `between` joins.

    The start is the longest one with at most half of the ids that `between` leaves, rounded up. The
    end is the longest one that fits after the start and `between`.
    """
    whole = Truncator(reader, text, errors, starts)
    if whole.count_up_to(room) <= room:
        return len(text), len(text)
    left = room - reader.count(Utf8(between, errors).data)
    for half in range((left + 1) // 2, -1, -1):
        head = whole.head(half)
        rest = text[head:]
        if starts is not None:
            at = len(Utf8(text[:head], errors).data)
            starts_of_rest = starts[starts >= at] - at
        else:
            starts_of_rest = None
        tail = Truncator(reader, rest, errors, starts_of_rest).tail(
            room, joined(text[:head], between)
        )
        if tail >= 0:
            return head, head + tail
    raise ValueError(
        f"n leaves {room} ids, fewer than those of the ellipsis; pass a larger n or a shorter "
        "ellipsis"
    )
