"""Define Window, the parts of an encoding, and truncate, merge and pad windows.

The algorithms follow those of tokenizers 0.23.3, with the same odd results: the windows of
the overflow keep the type ids that they had before the template.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from bpe.compat.huggingface.align import Span
from bpe.compat.huggingface.errors import CallFallbackError
from bpe.compat.huggingface.real import VERSION
from bpe.compat.huggingface.rows import Row
from bpe.types import Direction as Direction
from bpe.types import Padding as Padding
from bpe.types import Truncation as Truncation

MAX_LENGTH = (1 << 64) - 1
"""The largest length in tokenizers, an unsigned 64-bit number: a negative length wraps around."""


def checked(truncation: Truncation) -> Truncation:
    """Return `truncation`; raise CallFallbackError if the installed version cannot do it."""
    if VERSION == "0.23.1":
        raise CallFallbackError("truncation by tokenizers 0.23.1, which computes no overflow")
    return truncation


class Fixed(NamedTuple):
    """Tokens of a template or of padding."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    type_id: int
    attention: int = 1
    is_special: int = 1

    @property
    def size(self) -> int:
        """The number of ids."""
        return len(self.ids)

    @property
    def spans(self) -> list[Span]:
        """The span of each id, which is empty."""
        return [(0, 0)] * self.size

    @property
    def words(self) -> list[int | None]:
        """The number of the word of each id, which is none."""
        return [None] * self.size

    def with_type(self, type_id: int) -> Fixed:
        """Return the tokens themselves, which keep their type."""
        return self

    def trimmed(self, adds_space: bool) -> Fixed:
        """Return the tokens themselves, which have no spans to trim."""
        return self

    def cut(self, start: int, stop: int) -> Fixed:
        """Return the tokens `start` to `stop`."""
        return self._replace(ids=self.ids[start:stop], tokens=self.tokens[start:stop])


class Slice(NamedTuple):
    """The ids row.ids[start:stop]."""

    row: Row
    start: int
    stop: int
    type_id: int
    trims: bool = False
    """True if offsets exclude white space at both ends of a token."""
    adds_space: bool = False
    """True if the first token keeps one leading space, which the pre-tokenizer may have added."""
    attention: int = 1
    is_special: int = 0

    @property
    def size(self) -> int:
        """The number of ids."""
        return self.stop - self.start

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self.row.ids[self.start : self.stop]

    @property
    def tokens(self) -> list[str]:
        """The token of each id."""
        return self.row.tokens[self.start : self.stop]

    @property
    def spans(self) -> list[Span]:
        """The span of each id in its text."""
        if self.trims:
            return self.row.trimmed(self.start, self.stop, self.adds_space)
        return self.row.spans[self.start : self.stop]

    @property
    def words(self) -> list[int | None]:
        """The number of the word of each id."""
        return self.row.words[self.start : self.stop]

    def with_type(self, type_id: int) -> Slice:
        """Return the ids with another type."""
        return self._replace(type_id=type_id)

    def trimmed(self, adds_space: bool) -> Slice:
        """Return the ids with trimmed spans; `align.trim` explains `adds_space`."""
        return self._replace(trims=True, adds_space=adds_space)

    def cut(self, start: int, stop: int) -> Slice:
        """Return the tokens `start` to `stop`."""
        return self._replace(start=self.start + start, stop=self.start + stop)


WindowPart: TypeAlias = Fixed | Slice


class Window:
    """The parts of one encoding, the ranges of its sequences, and its overflowing windows."""

    __slots__ = ("overflowing", "parts", "ranges")

    def __init__(
        self,
        parts: tuple[WindowPart, ...] = (),
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
            values += getattr(part, name)
        return values

    def of_each_part(self, name: str) -> list[int]:
        """Return the `type_id`, `attention` or `is_special` of the part of each id."""
        values: list[int] = []
        for part in self.parts:
            values += [getattr(part, name)] * part.size
        return values

    def with_type(self, type_id: int) -> Window:
        """Return the window with another type for its sequence; its overflow keeps the type."""
        parts = tuple(part.with_type(type_id) for part in self.parts)
        return Window(parts, self.ranges, self.overflowing)

    def trimmed(self, adds_space: bool) -> Window:
        """Return the window and its overflow with trimmed spans."""
        parts = tuple(part.trimmed(adds_space) for part in self.parts)
        overflowing = [window.trimmed(adds_space) for window in self.overflowing]
        return Window(parts, self.ranges, overflowing)

    def set_sequence(self, sequence: int) -> None:
        """Make the whole window the range of a sequence."""
        self.ranges = {**self.ranges, sequence: (0, len(self))}

    def sequence_range(self, sequence: int) -> Span:
        """Return the range of a sequence; the whole window if it has no such sequence."""
        return self.ranges.get(sequence) or (0, len(self))

    def _cut(self, start: int, stop: int) -> tuple[WindowPart, ...]:
        """Return the parts of the ids `start` to `stop`."""
        parts: list[WindowPart] = []
        at = 0
        for part in self.parts:
            size = part.size
            first, last = max(start - at, 0), min(stop - at, size)
            if first < last:
                parts.append(part.cut(first, last))
            at += size
        return tuple(parts)

    def truncated(self, max_length: int, stride: int, direction: Direction) -> Window:
        """Return the first window of up to `max_length` ids; later windows become its overflow.

        Consecutive windows share `stride` ids. With the direction "left", the first window is at
        the end. If `max_length` is 0, the first window is empty, and this window is its overflow.
        """
        size = len(self)
        if max_length >= size:
            return self
        if max_length == 0:
            return Window(overflowing=[self])
        if stride >= max_length:
            raise CallFallbackError("a stride that is not less than the maximal length")
        windows = []
        step = max_length - stride
        if direction == "right":
            for start in range(0, size, step):
                windows.append((start, min(start + max_length, size)))
                if windows[-1][1] == size:
                    break
        else:
            for stop in range(size, 0, -step):
                windows.append((max(stop - max_length, 0), stop))
                if windows[-1][0] == 0:
                    break
        first, *rest = (Window(self._cut(start, stop)) for start, stop in windows)
        first.overflowing = rest
        return first

    def merged_with(self, other: Window) -> Window:
        """Return this window followed by `other`; the overflow has all other combinations."""
        overflowing = []
        for own in self.overflowing:
            overflowing.append(own.merged_with(other))
            overflowing += [own.merged_with(theirs) for theirs in other.overflowing]
        overflowing += [self.merged_with(theirs) for theirs in other.overflowing]
        size = len(self)
        shifted = {
            sequence: (start + size, stop + size)
            for sequence, (start, stop) in other.ranges.items()
        }
        return Window(self.parts + other.parts, self.ranges | shifted, overflowing)

    def padded(self, length: int, padding: Padding) -> Window:
        """Return the window, and its overflow, padded to `length` ids."""
        overflowing = [window.padded(length, padding) for window in self.overflowing]
        missing = length - len(self)
        if missing <= 0:
            return Window(self.parts, self.ranges, overflowing)
        pad = Fixed(
            (padding.pad_id,) * missing, (padding.pad_token,) * missing, padding.pad_type_id, 0
        )
        if padding.direction == "right":
            return Window((*self.parts, pad), self.ranges, overflowing)
        ranges = {
            sequence: (start + missing, stop + missing)
            for sequence, (start, stop) in self.ranges.items()
        }
        return Window((pad, *self.parts), ranges, overflowing)


def pad(windows: list[Window], padding: Padding) -> list[Window]:
    """Return `windows` padded as one batch."""
    length = padding.target(max(map(len, windows), default=0))
    return [window.padded(length, padding) for window in windows]


def merge(windows: Iterable[Window]) -> Window:
    """Return one window with all `windows` in order."""
    merged = Window()
    for window in windows:
        merged = merged.merged_with(window)
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
            raise CallFallbackError("a sequence that is too short to truncate")
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
