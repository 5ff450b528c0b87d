"""Encode a text of several segments, of which each has its own policy for added tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.added_tokens import GIVEN_TOKEN
from bpe.encoding.arguments import validate_text
from bpe.encoding.offsets import UnitOffsets
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import SpecialTokenError, shortened
from bpe.once import once
from bpe.types import Errors, Ids, Offsets, SegmentLike, Special, Text, Unit
from bpe.vocabulary import ID_LIMIT

_TEXT = str, bytes, bytearray, memoryview
_Places: TypeAlias = tuple[Offsets, Offsets, Offsets]
"""The ends, and the spans of the ids in bytes of all texts together."""
_Result: TypeAlias = tuple[Ids, _Places]


class Segmented:
    """The ids of n tokens, and the places of these tokens in the m segments of a text.

    `ids` is a uint32 array of shape (n,). The other properties are int64 arrays, which are made at
    their first use: `ends` of shape (m,), the others of shape (n,).
    """

    def __init__(
        self,
        ids: Ids,
        find_places: Callable[[], _Places],
        source: tuple[Sequence[SegmentLike], Special, Errors],
        unit: Unit | None,
    ) -> None:
        """Store the ids, and the function that finds their places.

        `source` has the arguments of the SegmentList, and `unit` is that of `starts` and `stops`.
        """
        self.ids = ids
        self._find_places = find_places
        self._source = source
        self._unit = unit

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_places, (self.ids, self._places, self._source, self._unit)

    @once
    def _places(self) -> _Places:
        return self._find_places()

    @once
    def _segments(self) -> SegmentList:
        return SegmentList(*self._source)

    @property
    def ends(self) -> Offsets:
        """For each segment k, the tokens that begin before its end are ids[:ends[k]]."""
        return self._places[0]

    @property
    def _starts(self) -> Offsets:
        return self._places[1]

    @property
    def _stops(self) -> Offsets:
        return self._places[2]

    @once
    def segment_of(self) -> Offsets:
        """The segment in which each token begins."""
        return np.searchsorted(self.ends, np.arange(len(self.ids)), side="right")

    @once
    def end_segment_of(self) -> Offsets:
        """The segment in which each token ends, which is a later one if the token crosses."""
        last = np.searchsorted(self._segments.byte_ends, self._stops, side="left")
        return np.where(self._is_given, self.segment_of, np.maximum(self.segment_of, last))

    @once
    def _is_given(self) -> NDArray[np.bool_]:
        is_given: NDArray[np.bool_] = self._stops == GIVEN_TOKEN
        return is_given

    @once
    def starts(self) -> Offsets:
        """The start of each token in the text of `segment_of`."""
        return self._segments.own_offsets(self._starts, self.segment_of, False, self._unit)

    @once
    def stops(self) -> Offsets:
        """The end of each token in the text of `end_segment_of`, excluded."""
        stops = self._segments.own_offsets(self._stops, self.end_segment_of, True, self._unit)
        is_empty = (self._stops <= self._starts) & ~self._is_given
        return np.where(is_empty, self.starts, stops)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Segmented({len(self.ids)} ids of {len(self._source[0])} segments)"


def _with_places(
    ids: Ids,
    places: _Places,
    source: tuple[Sequence[SegmentLike], Special, Errors],
    unit: Unit | None,
) -> Segmented:
    return Segmented(ids, lambda: places, source, unit)


class SegmentList:
    """The segments of one call, with their texts as UTF-8."""

    def __init__(self, segments: Iterable[SegmentLike], special: Special, errors: Errors) -> None:
        """Check the segments. `special` is the policy of texts that come without one.

        Raises TypeError or ValueError, which name the index of a wrong segment, and
        UnicodeEncodeError.
        """
        self.errors = errors
        self.texts: list[Text | None] = []
        self.utf8: list[bytes] = []
        self.policies: list[Special] = []
        self.ids: list[Sequence[int]] = []
        for at, segment in enumerate(segments):
            self._add(at, segment, special)
        self.byte_ends = np.fromiter(accumulate(map(len, self.utf8)), np.int64, len(self.utf8))

    def _add(self, at: int, segment: SegmentLike, special: Special) -> None:
        text: Any = segment
        if isinstance(segment, tuple) and len(segment) == 2 and isinstance(segment[0], _TEXT):
            text, special = segment
        ids: Sequence[int] = ()
        utf8 = b""
        if isinstance(text, _TEXT):
            try:
                utf8 = encode_utf8(validate_text(text, self.errors))
            except UnicodeEncodeError as error:
                error.reason += f" (segments[{at}])"
                raise
        else:
            ids, text = _ids_of(at, segment), None
        self.texts.append(text)
        self.utf8.append(utf8)
        self.policies.append(special)
        self.ids.append(ids)

    def __len__(self) -> int:
        return len(self.texts)

    def own_offsets(
        self, places: Offsets, segment_of: Offsets, is_end: bool, unit: Unit | None
    ) -> Offsets:
        """Convert byte offsets in all texts together to offsets in the own texts of segments.

        The offset of the start or the end of an id, of a segment that is ids, counts these ids.
        """
        first = np.concatenate([np.zeros(1, np.int64), self.byte_ends])
        # NFC may sort marks across an end, so a place may be before the start of its segment.
        result: Offsets = np.maximum(places - first[segment_of], 0)
        order = np.argsort(segment_of, kind="stable")
        bounds = np.searchsorted(segment_of[order], np.arange(len(self) + 1))
        for at in np.flatnonzero(self._differs(unit)).tolist():
            text, ids = self.texts[at], self.ids[at]
            members = order[bounds[at] : bounds[at + 1]]
            if ids:
                given = members[len(members) - len(ids) :]
                result[given] = np.arange(len(given)) + is_end
            elif text is not None and len(members):
                offsets = UnitOffsets(text, self.errors, unit)
                convert = offsets.ends if is_end else offsets.starts
                result[members] = convert(result[members])
        return result

    def _differs(self, unit: Unit | None) -> list[bool]:
        """Return for each segment whether its offsets in `unit` may differ from those in bytes."""
        if unit not in (None, "byte", "char", "utf16"):
            return [True] * len(self)
        pairs = zip(self.texts, self.utf8, strict=True)
        return [text is None or not utf8.isascii() for text, utf8 in pairs]

    def located(self, error: SpecialTokenError) -> SpecialTokenError:
        """Return the error of a token in all texts together, with its segment and own offset."""
        at = np.searchsorted(self.byte_ends, [error.position], side="right")
        own = self.own_offsets(np.array([error.position]), at, is_end=False, unit=None)
        return SpecialTokenError(error.token, int(own[0]), int(at[0]))


def _ids_of(at: int, segment: Any) -> list[int]:
    """Return the ids that segment `at` consists of; raise TypeError or ValueError."""
    expected = "expected a text, (text, special) or a sequence of ids"
    try:
        ids = [index(id) for id in segment]
    except TypeError:
        raise TypeError(f"segments[{at}] is {shortened(segment)}; {expected}") from None
    for id in ids:
        if not 0 <= id < ID_LIMIT:
            raise ValueError(f"segments[{at}] has {id}; expected an id from 0 to {ID_LIMIT - 1}")
    return ids


def listed_segments(segments: Iterable[SegmentLike]) -> list[SegmentLike]:
    """Return the argument `segments` of a call as a new list; raise TypeError if it has none."""
    is_list = type(segments) is list  # the common case, fast
    if not is_list and (
        isinstance(segments, (*_TEXT, Mapping)) or not isinstance(segments, Iterable)
    ):
        raise TypeError(
            f"expected an iterable of segments, got {shortened(segments)}; pass [(text, special)]"
        )
    return list(segments)


def encode_segments(
    pipeline: Pipeline,
    segments: Iterable[SegmentLike],
    special: Special,
    errors: Errors,
    joined: bool,
    unit: Unit | None,
) -> Segmented:
    """Return the ids of `segments`; Tokenizer.encode_segments explains the arguments."""
    listed = listed_segments(segments)
    found = pipeline.encode_segments(listed, special, errors) if joined else None
    if found is not None:
        ids, places = found
        return Segmented(ids, places.find, (listed, special, errors), unit)
    checked = SegmentList(listed, special, errors)
    ids, found_places = (_encode_joined if joined else _encode_apart)(pipeline, checked)
    return _with_places(ids, found_places, (listed, special, errors), unit)


def _encode_joined(pipeline: Pipeline, segments: SegmentList) -> _Result:
    """Return the ids, ends and spans of all segments as one text.

    A match of an added token crosses no end of a segment.
    """
    ends = segments.byte_ends
    ranges = zip(ends.tolist(), segments.policies, segments.ids, strict=True)
    try:
        ids, starts, stops = pipeline.spans_in_ranges(b"".join(segments.utf8), list(ranges))
    except SpecialTokenError as error:
        raise segments.located(error) from None
    # NFC may sort marks, so starts may descend, but never across an end of a part.
    begun = np.searchsorted(np.maximum.accumulate(starts), ends, side="left")
    # All tokens before the ids of a segment count to this segment, or to one before it.
    after_given = np.append(np.flatnonzero(stops == GIVEN_TOKEN) + 1, 0)
    sizes = np.array([len(given) for given in segments.ids], np.int64)
    all_ends = np.maximum.accumulate(np.where(sizes > 0, after_given[np.cumsum(sizes) - 1], begun))
    all_ends[-1:] = len(ids)  # a token of a prefix alone may come after all bytes
    return ids, (all_ends, starts, stops)


def _encode_apart(pipeline: Pipeline, segments: SegmentList) -> _Result:
    """Return the ids, ends and spans of each segment by itself, one after the other."""
    rows = []
    start = 0
    for at, (utf8, special, given) in enumerate(
        zip(segments.utf8, segments.policies, segments.ids, strict=True)
    ):
        try:
            ids, starts, stops = pipeline.spans_in_ranges(utf8, [(len(utf8), special, given)])
        except SpecialTokenError as error:
            raise segments.located(
                SpecialTokenError(error.token, error.position + start, at)
            ) from None
        stops = np.where(stops == GIVEN_TOKEN, stops, stops + start)
        rows.append((ids, starts + start, stops))
        start += len(utf8)
    empty = np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.int64)
    ids, starts, stops = map(np.concatenate, zip(empty, *rows, strict=True))
    ends = np.cumsum([len(ids) for ids, *_ in rows], dtype=np.int64)
    return ids, (ends, starts, stops)
