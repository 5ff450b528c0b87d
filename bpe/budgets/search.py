"""Define Search, which finds the longest part of a text with at most a number of ids.

Let s be the start of the part, n the maximal number of ids, and count(p) the number of ids of the
text from s to p. The result is the largest border p with count(p) <= n. A larger p may have fewer
ids, because the last letters of a text change how it splits and merges. These facts bound the
search (bpe/budgets/cuts.py says what a cut is):

1. If c is a cut and c <= p, then count(p) is count(c) plus the number of ids from c to p. So
   count(c) is known from the ids of the whole text, and count(p) > count(c) if c < p.
2. So if c is the first cut with count(c) > n, no p >= c has at most n ids. And if a cut has
   exactly n ids, no larger p has at most n ids.
3. Otherwise the largest p lies between the last cut before c and c, or else before that cut. Few
   borders are there, since cuts are close in most texts. Search tests them from the last one on.

4. If all borders are ends of ids, the numbers of ids at joints are known too (bpe/budgets/cuts.py).

In a stretch of more than MAX_STRETCH bytes without a cut, Search does not test all borders, but
bisects: then count(p) <= n, and the next border after p has too many ids.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from bpe.budgets.borders import Borders
from bpe.budgets.proofs import CUT, JOINT, NONE
from bpe.budgets.reader import Ends
from bpe.budgets.source import Source, view

MAX_STRETCH = 1024
"""The maximal number of bytes without a cut in which Search tests each border."""
BYTES_OF_ID = 4
"""A guess of the number of bytes that an id stands for."""


class Part(NamedTuple):
    """A part of a text, in bytes, and the number of its ids."""

    end: int
    size: int


class Search:
    """Finds parts of one text with at most `room` ids each.

    cpp/core/encode/chunk_search.hpp is the C++ version, with the same results.
    """

    def __init__(self, source: Source, ends: Ends, room: int) -> None:
        """Store the text and the ends of its ids, which are not used if the text has no cuts."""
        self._source = source
        self._ends = view(ends.ends)
        self._uses_joints = ends.is_exact
        self._room = room
        self._stop = (0, -1, False)  # of _ends_at_cut

    def longest(
        self, start: int, borders: Borders, floor: int, at_tokens: bool = False
    ) -> Part | None:
        """Return the longest part from `start` to a border after `floor`, or None.

        `at_tokens` says that all borders are ends of ids.
        """
        source, room = self._source, self._room
        # All ids after `head` are those of the whole text, and `used` come before `head`.
        head, used = start, 0
        if (
            source.cuts is None
            or source.cuts.puts_prefix
            or not self._keeps_ids(bisect_right(self._ends, start), start)
        ):
            head = source.stretch(start)[1] if start < source.size else source.size
            if self._is_long(start, head):
                return self._bisect(start, head, 0, borders, max(start, floor), start)
            used = source.count(start, head)
            if used > room:
                return self._within(start, head, 0, borders, max(start, floor), start)
        if head == source.size:
            return Part(head, used)
        ends = self._ends
        first = bisect_right(ends, head)
        at = first + room - used
        if at >= len(ends):
            return Part(source.size, used + len(ends) - first)
        place = ends[at - 1] if at > first else head
        uses_joints = at_tokens and self._uses_joints
        known = self._last_known(first, at) if uses_joints and at > first else 0
        if known and ends[known - 1] > floor:
            return Part(ends[known - 1], used + known - first)
        if source.is_cut(place) and ends[at] > place:
            # Fact 2: this cut has exactly `room` ids.
            low = high = place
        else:
            low, high = source.stretch(place)
            low = max(low, head)  # `head` may be a joint
        while True:
            before = used + bisect_right(ends, low) - first
            if low < high and before < room:
                found = self._within(low, high, before, borders, max(low, floor), start)
                if found is not None:
                    return found
            if low <= floor:
                return None
            if before <= room and borders.is_border(low):
                return Part(low, before)
            low = borders.before(low)
            if low <= floor:
                return None
            if low < head:
                return self._within(start, head, 0, borders, max(start, floor), start)
            low, high = source.stretch(low)
            low = max(low, head)

    def _keeps_ids(self, at: int, place: int) -> bool:
        """Return whether a cut at `place`, the end of the first `at` ids, keeps the ids."""
        known = self._source.proven(place)
        if known == CUT:
            return True
        return (
            known == JOINT
            and self._uses_joints
            and at > 0
            and self._ends[at - 1] == place
            and self._splits(at)
        )

    def _splits(self, at: int) -> bool:
        """Return whether the joint after the first `at` ids keeps the ids.

        It does unless the part of a pre-token before or after the joint is a token that merging
        does not make.
        """
        source, ends = self._source, self._ends
        assert source.cuts is not None, "a joint is proven"
        whole, longest = source.cuts.whole, source.cuts.longest_token
        if not whole:
            return True
        place = ends[at - 1]
        first = at - 1  # the ids from `first` to `at` may be those of a pre-token
        while first > 0 and not source.is_cut(ends[first - 1]):
            first -= 1
            start = ends[first - 1] if first else 0
            if source.data[start:place] in whole:
                return False
            if place - start > longest:
                break
        last = at
        while not source.is_cut(ends[last]):
            last += 1
            if source.data[place : ends[last]] in whole:
                return False
            if ends[last] - place > longest:
                break
        return True

    def _last_known(self, first: int, at: int) -> int:
        """Return the number of ids before the last border that has at most `at` ids before it.

        Returns 0 unless the numbers of ids are known there and at all later borders up to a cut, so
        that no later border has fewer ids. `first` ids come before the part.
        """
        source, ends = self._source, self._ends
        last = at
        while last > first and not source.is_border(ends[last - 1]):
            last -= 1
        if last == first:
            return 0
        known = source.proven(ends[last - 1])
        if known == CUT and last == at and ends[at] > ends[at - 1]:
            return at
        if known == NONE or (known == JOINT and not self._splits(last)):
            return 0
        return last if self._ends_at_cut(at) else 0

    def _ends_at_cut(self, at: int) -> bool:
        """Return whether the numbers of ids are known at each border after `at` ids up to a cut.

        Keeps the last result, which is right for all ids up to that cut or unknown number.
        """
        first, last, is_cut = self._stop
        if not first <= at <= last:
            source, ends = self._source, self._ends
            last, is_cut = at, False
            while last < len(ends):
                known = source.proven(ends[last])
                is_cut = known == CUT
                if is_cut or (known == NONE and source.is_border(ends[last])):
                    break
                if known == JOINT and not self._splits(last + 1):
                    break
                last += 1
            self._stop = at, last, is_cut
        return is_cut

    def index(self, place: int) -> int:
        """Return the number of ids before `place` if a cut there keeps the ids, else -1."""
        cuts = self._source.cuts
        if not self._uses_joints or cuts is None or cuts.puts_prefix:
            return -1
        at = bisect_right(self._ends, place)
        return at if self._keeps_ids(at, place) else -1

    def following(self, first: int) -> int:
        """Return the number of ids before the end of the longest part after `first` ids.

        Returns 0 if that is not known from the ids of the whole text. `first` is from `index`.
        """
        at = first + self._room
        return self._last_known(first, at) if first < at < len(self._ends) else 0

    def _is_long(self, start: int, head: int) -> bool:
        """Return whether the ids from `start` to the cut `head` are too many to count them."""
        if head - start <= MAX_STRETCH:
            return False
        if self._source.cuts is None:
            return True
        ids = bisect_right(self._ends, head) - bisect_right(self._ends, start)
        return ids > 2 * self._room + MAX_STRETCH

    def _within(
        self, low: int, high: int, before: int, borders: Borders, floor: int, start: int
    ) -> Part | None:
        """Return the longest part to a border in floor < border < high, or None.

        `low` is a cut with `before` ids before it, or the start of the part.
        """
        if high - low > MAX_STRETCH:
            return self._bisect(low, high, before, borders, floor, start)
        return self._last_fit(low, high, before, borders, floor, start)

    def _counter(self, low: int, start: int) -> Callable[[int, int], int]:
        return self._source.count if low == start else self._source.count_after

    def _last_fit(
        self, low: int, high: int, before: int, borders: Borders, floor: int, start: int
    ) -> Part | None:
        """Test each border from the last one on."""
        count = self._counter(low, start)
        place = borders.before(high)
        while place > floor:
            size = before + count(low, place)
            if size <= self._room:
                return Part(place, size)
            place = borders.before(place)
        return None

    def _bisect(
        self, low: int, high: int, before: int, borders: Borders, floor: int, start: int
    ) -> Part | None:
        """Return a part to a border after which the next border has too many ids, or None."""
        if floor >= high:
            return None
        count = self._counter(low, start)
        sizes: dict[int, int] = {}
        # So many bytes have too many ids, whatever they are.
        limit = self._source.max_size(self._room - before)

        def fits(place: int) -> bool:
            if limit is not None and place - low > limit:
                return False
            sizes[place] = before + count(low, place)
            return sizes[place] <= self._room

        at = bisect_right(self._ends, low) + self._room - before
        guess = low + BYTES_OF_ID * (self._room - before)
        if self._source.cuts is not None:
            guess = self._ends[at - 1] if 0 < at <= len(self._ends) else high
        place, bad = gallop(fits, borders, floor, high, guess)
        # The end of the text has not been tested.
        if bad == high == self._source.size and fits(high):
            place = high
        return Part(place, sizes[place]) if place != floor else None

    def suffix(self, lead: bytes, borders: Borders) -> Part | None:
        """Return the longest part to the end of the text, after `lead`; `end` is its start.

        The ids of `lead` and the part together number at most `room`. The ids of the text are those
        of a continuation. The facts are those of `longest`: all parts that begin before the last
        cut c with more than `room` ids after it have too many ids, since those from c on are fixed.
        The part from c on itself may have fewer, because it begins with a prefix or with `lead`.
        """
        source, ends = self._source, self._ends
        reach = source.cuts.longest_added if lead and source.cuts is not None else 0

        def count(place: int) -> int:
            """Return the number of ids of `lead` and the text from `place` on."""
            near = min(place + reach, source.size)
            cut = source.stretch(near)[1] if near < source.size else near
            size = source.count_text(lead + source.data[place:cut])
            return size + (0 if source.cuts is None else len(ends) - bisect_right(ends, cut))

        def fits(place: int) -> bool:
            return count(place) <= self._room

        at = len(ends) - self._room
        place = ends[at - 1] if at > 0 else 0
        low, high = 0, source.size
        if source.cuts is not None:
            low, high = source.stretch(max(min(place, source.size) - 1, 0))
        while low < source.size:
            if high - low > MAX_STRETCH:
                if source.cuts is None:
                    place = source.size - BYTES_OF_ID * self._room
                found = gallop(fits, borders, high, low - 1, place)[0]
                if found != high:
                    return Part(found, count(found))
            else:
                found = low if borders.is_border(low) else borders.after(low)
                while found < high:
                    if fits(found):
                        return Part(found, count(found))
                    found = borders.after(found)
            if high == source.size:
                break
            low, high = source.stretch(high)
        size = source.count_text(lead)
        return Part(source.size, size) if size <= self._room else None


def gallop(
    fits: Callable[[int], bool], borders: Borders, good: int, bad: int, guess: int
) -> tuple[int, int]:
    """Return two places with no border between them: the first one fits, the second one does not.

    `good` and `bad` are the limits, in either order, which are not tested. Searches from `guess` on
    in growing steps, and then bisects.
    """
    step, sign = 16, 1 if good < bad else -1
    limits = good, bad
    while True:
        low, high = min(good, bad), max(good, bad)
        place = borders.before(max(min(guess + 1, high), low + 1))
        if place <= low:
            place = borders.after(low) if low >= 0 else 0
        if place >= high:
            return good, bad
        if fits(place):
            good = place
        else:
            bad = place
        if good == limits[0]:
            guess = place - sign * step
        elif bad == limits[1]:
            guess = place + sign * step
        else:
            guess = (good + bad) // 2
        step *= 2
