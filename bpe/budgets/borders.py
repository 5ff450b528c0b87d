"""Find the places at which a text may be divided: after lines, sentences, pre-tokens or tokens."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import index as as_int
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.budgets.source import Source, view
from bpe.encoding.offsets import byte_offsets
from bpe.encoding.utf8 import decode_utf8
from bpe.errors import shortened
from bpe.types import Offsets, SupportsOffsets, Text
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer
from pretok.text import code_points_of
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

ChunkKind: TypeAlias = Literal["token", "pre-token", "sentence", "line"]
"""A kind of borders of chunks."""
BorderFinder: TypeAlias = Callable[[Text], Iterable[int]]
"""A function that returns the borders of a text."""

_STOP, _WIDE_STOP, _CLOSER, _SPACE = 1, 2, 4, 8
SENTENCE_KINDS = np.zeros(1 << 16, np.uint8)
"""The kind of each code point at the end of a sentence. No space need follow a wide stop."""
for _kind, _points in (
    (_STOP, map(ord, ".!?\u2026\u061f\u06d4\u0964")),
    (_WIDE_STOP, map(ord, "\u3002\uff01\uff1f\uff0e\uff61")),
    (_CLOSER, map(ord, "\"')]}\u00bb\u2019\u201d\u203a\u300d\u300f\u3011\uff09\uff02\uff07")),
    (_SPACE, WHITE_SPACE_CODE_POINTS),
):
    SENTENCE_KINDS[list(_points)] = _kind
SENTENCE_KINDS.flags.writeable = False
_MAX_CLOSERS = 8
"""The maximal number of closing marks between the end of a sentence and its border."""


class Borders(Protocol):
    """Places at which a text may be divided, in bytes. The end of the text is one."""

    def is_border(self, place: int) -> bool:
        """Return whether `place` is a border."""

    def before(self, place: int) -> int:
        """Return the last border before `place`, or -1."""

    def after(self, place: int) -> int:
        """Return the first border after `place`, which is before the end of the text."""


class ListedBorders:
    """The borders of `places` that are also borders of the text."""

    def __init__(self, source: Source, places: NDArray[np.signedinteger]) -> None:
        """Store `places`, which ascend."""
        self._source = source
        self._places = view(ended(places, source.size))

    def is_border(self, place: int) -> bool:
        """Return whether `place` is one of the borders."""
        at = bisect_left(self._places, place)
        return (
            at < len(self._places) and self._places[at] == place and self._source.is_border(place)
        )

    def before(self, place: int) -> int:
        """Return the last border before `place`, or -1."""
        at = bisect_left(self._places, place) - 1
        while at >= 0 and not self._source.is_border(self._places[at]):
            at -= 1
        return self._places[at] if at >= 0 else -1

    def after(self, place: int) -> int:
        """Return the first border after `place`, which is before the end of the text."""
        at = bisect_right(self._places, place)
        while not self._source.is_border(self._places[at]):
            at += 1
        return int(self._places[at])


def ended(places: NDArray[np.signedinteger[Any]], size: int) -> NDArray[np.int64]:
    """Return the places before `size`, and `size`."""
    if not len(places) or places[-1] != size:
        places = np.append(places[: np.searchsorted(places, size)], size)
    return places.astype(np.int64, copy=False)


def line_ends(data: bytes) -> Offsets:
    r"""Return the places after each "\n", and after each "\r" without one.

    >>> line_ends(b"a\nb\r\nc\rd").tolist()
    [2, 5, 7]
    """
    bytes_ = np.frombuffer(data, np.uint8)
    is_end = bytes_ == 0x0A
    is_end[:-1] |= (bytes_[:-1] == 0x0D) & (bytes_[1:] != 0x0A)
    return np.flatnonzero(is_end) + 1


def sentence_ends(data: bytes) -> Offsets:
    """Return the ends of sentences, and of lines.

    A sentence ends with "." "!" "?" or "…", and closing quotes and brackets, if white space
    follows. After "。" "！" "？" no white space is necessary. The white space belongs to the next
    sentence, as in the tokens of most vocabularies.

    >>> sentence_ends("No. 'Yes!' It is 1.5 m.\\n是。不".encode()).tolist()
    [3, 10, 23, 24, 30]
    """
    text = decode_utf8(data)
    points = code_points_of(text)
    if not len(points):
        return np.zeros(0, np.int64)
    # No code point above U+FFFE has a meaning here. The end of the text counts as white space.
    kinds = np.append(SENTENCE_KINDS.take(points, mode="clip"), np.uint8(_SPACE))
    found = []
    for stop in (_STOP, _WIDE_STOP):
        ends = np.flatnonzero(kinds == stop) + 1
        for _ in range(_MAX_CLOSERS):
            is_closed = kinds[ends] == _CLOSER
            if not is_closed.any():
                break
            ends = ends + is_closed
        # In a row of stops, the last one ends the sentence.
        following = kinds[ends]
        is_last = (following != _STOP) & (following != _WIDE_STOP)
        found.append(ends[following == _SPACE if stop == _STOP else is_last])
    offsets = np.concatenate(found)
    if not text.isascii():
        offsets = byte_offsets(text)[offsets]
    return np.unique(np.concatenate([offsets, line_ends(data)]))


def pre_token_ends(data: bytes, pre_tokenizer: PreTokenizer | SupportsOffsets) -> Offsets:
    """Return the ends of the pre-tokens of a text.

    If the split keeps texts whole, as in SentencePiece models, pre-tokens end before spaces.
    """
    if isinstance(pre_tokenizer, PreTokenizer):
        preset = pre_tokenizer.preset
        if preset == WHOLE:
            bytes_ = np.frombuffer(data, np.uint8)
            return np.flatnonzero((bytes_[1:] == 0x20) & (bytes_[:-1] != 0x20)) + 1
        if preset.drops_text:
            spans = list(pre_tokenizer.spans(data))
            return np.unique(np.array(spans, np.int64).reshape(-1))
        return pre_tokenizer.offsets(data, unit="byte")
    text = decode_utf8(data)
    places = np.asarray(pre_tokenizer.offsets(text), np.int64)
    return places if text.isascii() else byte_offsets(text)[places]


def called_borders(find: BorderFinder, text: str | bytes) -> Offsets:
    """Return the borders that a caller's function finds, in the units of `text`.

    Raises TypeError for a border that is not an int, and ValueError for one outside the text.
    """
    size = len(text)
    found = find(text)
    try:
        places: Sequence[int] = sorted({as_int(place) for place in found})
    except TypeError as error:
        raise TypeError(f"on() returned {shortened(found)}; expected ints: {error}") from error
    if places and not 0 <= places[0] <= places[-1] <= size:
        wrong = places[0] if places[0] < 0 else places[-1]
        raise ValueError(f"on() returned the border {wrong}; expected 0 to {size}")
    return np.array(places, np.int64)
