"""Define Window, the parts of an encoding, and truncate, merge and pad windows.

The algorithms follow those of tokenizers 0.23.3, with the same odd results: the windows of
the overflow keep the type ids that they had before the template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from bpe.compat.huggingface.align import Span
from bpe.compat.huggingface.real import VERSION
from bpe.compat.huggingface.rows import BareRow, ListedRow, Row
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.types import Direction as Direction
from bpe.types import Padding as Padding
from bpe.types import Truncation as Truncation

MAX_LENGTH = (1 << 64) - 1
"""The largest length in tokenizers, an unsigned 64-bit number: a negative length wraps around."""
COMPUTES_OVERFLOW = VERSION != "0.23.1"
"""False if truncation by the installed version of tokenizers computes no overflow."""


def checked(truncation: Truncation) -> Truncation:
    """Return `truncation`; raise CallFallbackError if the installed version cannot do it."""
    if not COMPUTES_OVERFLOW:
        raise CallFallbackError("truncation by tokenizers 0.23.1, which computes no overflow")
    return truncation


class Part(NamedTuple):
    """The ids row.ids[start:stop]: those of a sequence, of a template, or of padding."""

    row: Row
    start: int
    stop: int
    type_id: int
    attention: int = 1
    """0 for padding, 1 for all other ids."""
    is_special: int = 0
    """1 for tokens of a template and for padding, 0 for the ids of a sequence."""

    @property
    def size(self) -> int:
        """The number of ids."""
        return self.stop - self.start

    def values(self, name: str) -> list[Any]:
        """Return the `ids`, `tokens`, `spans` or `words` of the part, in a new list."""
        if name == "spans":
            return self.row.spans_of(self.start, self.stop)
        values: list[Any] = getattr(self.row, name)[self.start : self.stop]
        return values

    def moved(self, by: int) -> Part:
        """Return the part with spans that start and end later."""
        ids, tokens, spans, words = map(self.values, ("ids", "tokens", "spans", "words"))
        row = ListedRow(ids, tokens, [(start + by, end + by) for start, end in spans], words)
        return self._replace(row=row, start=0, stop=self.size)


def fixed(ids: list[int], tokens: list[str], type_id: int, attention: int = 1) -> Part:
    """Return tokens of a template or of padding, with empty spans."""
    size = len(ids)
    row = ListedRow(ids, tokens, [(0, 0)] * size, [None] * size)
    return Part(row, 0, size, type_id, attention, is_special=1)


def first_type(row: Row, sequence: int) -> int:
    """Return the type id of a sequence before the template.

    In encode_batch_fast of tokenizers, a second sequence also has the type 0 at first.
    """
    return 0 if type(row) is BareRow else sequence


class Window:
    """The parts of one encoding, the ranges of its sequences, and its overflowing windows."""

    __slots__ = ("overflowing", "parts", "ranges")

    def __init__(
        self,
        parts: tuple[Part, ...] = (),
        ranges: dict[int, Span] | None = None,
        overflowing: Iterable[Window] = (),
    ) -> None:
        self.parts = parts
        self.ranges: dict[int, Span] = {} if ranges is None else ranges
        self.overflowing = list(overflowing)

    def __len__(self) -> int:
        return sum(part.size for part in self.parts)

    def of_each_id(self, name: str) -> list[Any]:
        """Return the `ids`, `tokens`, `spans` or `words` of all parts, in a new list."""
        values: list[Any] = []
        for part in self.parts:
            values += part.values(name)
        return values

    def of_each_part(self, name: str) -> list[int]:
        """Return the `type_id`, `attention` or `is_special` of the part of each id."""
        values: list[int] = []
        for part in self.parts:
            values += [getattr(part, name)] * part.size
        return values

    def with_type(self, type_id: int | None) -> Window:
        """Return the window with another type for its sequence; its overflow keeps the type.

        None changes nothing.
        """
        if type_id is None:
            return self
        parts = (part if part.is_special else part._replace(type_id=type_id) for part in self.parts)
        return Window(tuple(parts), self.ranges, self.overflowing)

    def set_sequence(self, sequence: int) -> None:
        """Make the whole window the range of a sequence."""
        self.ranges = {**self.ranges, sequence: (0, len(self))}

    def sequence_range(self, sequence: int) -> Span:
        """Return the range of a sequence; the whole window if it has no such sequence."""
        return self.ranges.get(sequence) or (0, len(self))

    def _cut(self, start: int, stop: int) -> tuple[Part, ...]:
        """Return the parts of the ids `start` to `stop`."""
        parts: list[Part] = []
        at = 0
        for part in self.parts:
            size = part.size
            first, last = max(start - at, 0), min(stop - at, size)
            if first < last:
                parts.append(part._replace(start=part.start + first, stop=part.start + last))
            at += size
        return tuple(parts)

    def truncated(self, max_length: int, stride: int, direction: Direction) -> Window:
        """Return the first window of up to `max_length` ids; later windows become its overflow.

        If `max_length` is 0, the first window is empty, and this window is its overflow.
        """
        size = len(self)
        if max_length >= size:
            return self
        if max_length == 0:
            return Window(overflowing=[self])
        ranges = window_ranges(size, max_length, stride, direction)
        first, *rest = (Window(self._cut(start, stop)) for start, stop in ranges)
        first.overflowing = rest
        return first

    def merged_with(self, other: Window, grows: bool = False) -> Window:
        """Return this window followed by `other`; the overflow has all other combinations.

        If `grows` is true, the spans of `other` count from the end of the last span here.
        """
        overflowing = []
        for own in self.overflowing:
            overflowing.append(own.merged_with(other, grows))
            overflowing += [own.merged_with(theirs, grows) for theirs in other.overflowing]
        overflowing += [self.merged_with(theirs, grows) for theirs in other.overflowing]
        ranges = self.ranges | _shifted(other.ranges, len(self))
        end = self.of_each_id("spans")[-1][1] if grows and len(self) else 0
        parts = tuple(part.moved(end) for part in other.parts) if end else other.parts
        return Window(self.parts + parts, ranges, overflowing)

    def padded(self, length: int, padding: Padding) -> Window:
        """Return the window, and its overflow, padded to `length` ids."""
        overflowing = [window.padded(length, padding) for window in self.overflowing]
        missing = length - len(self)
        if missing <= 0:
            return Window(self.parts, self.ranges, overflowing)
        ids, tokens = [padding.pad_id] * missing, [padding.pad_token] * missing
        pad = fixed(ids, tokens, padding.pad_type_id, attention=0)
        if padding.direction == "right":
            return Window((*self.parts, pad), self.ranges, overflowing)
        return Window((pad, *self.parts), _shifted(self.ranges, missing), overflowing)


def window_ranges(size: int, max_length: int, stride: int, direction: Direction) -> Iterator[Span]:
    """Yield the range of each window of up to `max_length` of `size` ids.

    Consecutive windows share `stride` ids. With the direction "left", the first window is at the
    end.
    """
    if stride >= max_length:
        raise CallFallbackError(
            "a stride that is not less than the maximal length",
            f"`stride` must be strictly less than `max_len={max_length}`",
        )
    for start in range(0, size - stride, max_length - stride):
        stop = min(start + max_length, size)
        yield (start, stop) if direction == "right" else (size - stop, size - start)


def _shifted(ranges: dict[int, Span], size: int) -> dict[int, Span]:
    """Return the ranges of sequences after `size` more ids."""
    return {number: (start + size, stop + size) for number, (start, stop) in ranges.items()}


def pad(windows: list[Window], padding: Padding) -> list[Window]:
    """Return `windows` padded as one batch."""
    length = padding.target(max(map(len, windows), default=0))
    return [window.padded(length, padding) for window in windows]


def merge(windows: Iterable[Window], grows: bool = False) -> Window:
    """Return one window with all `windows` in order; `Window.merged_with` explains `grows`."""
    merged = Window()
    for window in windows:
        merged = merged.merged_with(window, grows)
    return merged


def truncate(windows: list[Window], truncation: Truncation, added: int) -> list[Window]:
    """Truncate one or two sequences, so that `added` more ids fit into the maximal length."""
    _, stride, strategy, direction = truncation
    max_length = (truncation.max_length - added) & MAX_LENGTH
    if max_length == 0:
        return [window.truncated(0, stride, direction) for window in windows]
    excess = sum(map(len, windows)) - max_length
    if excess <= 0:
        return windows
    if strategy == "longest_first":
        sizes = _longest_first([len(window) for window in windows], max_length)
    else:
        index = 0 if strategy == "only_first" else 1
        sizes = [MAX_LENGTH] * len(windows)
        if index >= len(windows) or len(windows[index]) <= excess:
            problem = (
                "Sequence to truncate too short to respect the provided max_length"
                if index < len(windows)
                else "Second sequence not provided"
            )
            raise CallFallbackError(
                "a sequence that is too short to truncate", f"Truncation error: {problem}"
            )
        sizes[index] = len(windows[index]) - excess
    return [
        window.truncated(size, stride, direction)
        for window, size in zip(windows, sizes, strict=True)
    ]


def _longest_first(sizes: list[int], max_length: int) -> list[int]:
    """Return the sizes after truncation by the strategy longest_first.

    A single sequence gets `max_length` ids. Of two sequences, the longer one is truncated first,
    but not below the size of the shorter one. If both are still too long, each gets half of
    `max_length`. If `max_length` is odd, the longer one gets one id more; of equally long ones, the
    second.
    """
    if len(sizes) == 1:
        return [max_length]
    shorter, longer = sorted(sizes)
    longer = shorter if shorter > max_length else max(shorter, max_length - shorter)
    if shorter + longer > max_length:
        shorter = max_length // 2
        longer = shorter + max_length % 2
    return [longer, shorter] if sizes[0] > sizes[1] else [shorter, longer]
