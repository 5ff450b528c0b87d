"""Encode a text of several segments, of which each has its own policy for added tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.added_tokens import GIVEN_TOKEN
from bpe.encoding.arguments import check_errors, validate_text
from bpe.encoding.offsets import UnitOffsets, check_unit
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import SpecialTokenError, named_error, shortened
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
        segments: Sequence[SegmentLike | None],
        errors: Errors,
        unit: Unit | None,
    ) -> None:
        """Store the ids, and the function that finds their places.

        `segments` and their texts must not change; None stands for ids. `unit` is that of `starts`
        and `stops`.
        """
        self.ids = ids
        self._find_places = find_places
        self._given_segments = segments
        self._errors: Errors = errors
        self._unit = unit

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_places, (self.ids, self._places, self._texts, self._errors, self._unit)

    @once
    def _places(self) -> _Places:
        return self._find_places()

    @property
    def _texts(self) -> list[Text | None]:
        return [*map(_text_of, self._given_segments)]

    @once
    def _segments(self) -> _SegmentTexts:
        return _SegmentTexts(self._texts, self._errors)

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
        return self._own_offsets(self._starts, self.segment_of, is_end=False)

    @once
    def stops(self) -> Offsets:
        """The end of each token in the text of `end_segment_of`, excluded."""
        stops = self._own_offsets(self._stops, self.end_segment_of, is_end=True)
        is_empty = (self._stops <= self._starts) & ~self._is_given
        return np.where(is_empty, self.starts, stops)

    def _own_offsets(self, places: Offsets, segment_of: Offsets, is_end: bool) -> Offsets:
        """Return offsets in the own texts of segments; those of an id count the ids before it."""
        own = self._segments.own_offsets(places, segment_of, is_end, self._unit)
        is_given = self._is_given
        firsts = np.searchsorted(segment_of[is_given], segment_of[is_given])
        own[is_given] = np.arange(len(firsts)) - firsts + is_end
        return own

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Segmented({len(self.ids)} ids of {len(self._given_segments)} segments)"


def _with_places(
    ids: Ids,
    places: _Places,
    segments: Sequence[SegmentLike | None],
    errors: Errors,
    unit: Unit | None,
) -> Segmented:
    return Segmented(ids, lambda: places, segments, errors, unit)


class _SegmentTexts:
    """The texts of segments, as UTF-8 too; the text of a segment of ids is None."""

    def __init__(self, texts: Sequence[Text | None], errors: Errors) -> None:
        self.texts = texts
        self.errors: Errors = errors
        self.utf8 = [
            b"" if text is None else encode_utf8(validate_text(text, errors)) for text in texts
        ]
        self.byte_ends = np.fromiter(accumulate(map(len, self.utf8)), np.int64, len(self.utf8))

    def own_offsets(
        self, places: Offsets, segment_of: Offsets, is_end: bool, unit: Unit | None
    ) -> Offsets:
        """Convert byte offsets in all texts together to offsets in the own texts of segments."""
        first = np.concatenate([np.zeros(1, np.int64), self.byte_ends])
        # NFC may sort marks across an end, so a place may be before the start of its segment.
        result: Offsets = np.maximum(places - first[segment_of], 0)
        order = np.argsort(segment_of, kind="stable")
        bounds = np.searchsorted(segment_of[order], np.arange(len(self.texts) + 1))
        for at, (text, utf8) in enumerate(zip(self.texts, self.utf8, strict=True)):
            members = order[bounds[at] : bounds[at + 1]]
            is_same = unit in (None, "byte", "char", "utf16") and utf8.isascii()
            if text is not None and not is_same and len(members):
                offsets = UnitOffsets(text, self.errors, unit)
                convert = offsets.ends if is_end else offsets.starts
                result[members] = convert(result[members])
        return result


class _CheckedSegments:
    """The segments of one call: their texts, policies and ids."""

    def __init__(
        self, pipeline: Pipeline, segments: Sequence[SegmentLike], special: Special, errors: Errors
    ) -> None:
        """Check the segments. `special` is the policy of texts that come without one.

        Raises the errors of `encode`, which name the index of a wrong segment, but for
        SpecialTokenError.
        """
        check_errors(errors)
        pipeline.policy(special)
        texts: list[Text | None] = []
        self.policies: list[Special] = []
        self.ids: list[Sequence[int]] = []
        for at, segment in enumerate(segments):
            try:
                text, policy, ids = parsed_segment(segment, special)
                if text is not None:
                    pipeline.check_bytes(validate_text(text, errors))
                pipeline.policy(policy)
            except (TypeError, ValueError) as error:
                raise named_error(error, f"segments[{at}]") from None
            # The caller may change a bytearray later.
            texts.append(text if text is None or isinstance(text, str) else bytes(text))
            self.policies.append(policy)
            self.ids.append(ids)
        self.texts = _SegmentTexts(texts, errors)
        self._content_of = pipeline.content_of

    def located(self, token: str, position: int) -> SpecialTokenError:
        """Return the error of a token at a byte of all texts together."""
        at = np.searchsorted(self.texts.byte_ends, [position], side="right")
        own = self.texts.own_offsets(np.array([position]), at, is_end=False, unit=None)
        return refused_in_segment(self._content_of(token), int(own[0]), int(at[0]))


def parsed_segment(segment: Any, special: Special) -> tuple[Text | None, Special, Sequence[int]]:
    """Return the text of a segment, or None, its policy, and its ids.

    `special` is the policy of a segment without one. Raises TypeError or ValueError for wrong
    segments and ids.
    """
    if _is_pair(segment):
        return *segment, ()
    if isinstance(segment, _TEXT):
        return segment, special, ()
    try:
        ids = [index(id) for id in segment]
    except TypeError:
        expected = "expected a text, (text, special) or a sequence of ids"
        raise TypeError(f"{expected}, got {shortened(segment)}") from None
    for id in ids:
        if not 0 <= id < ID_LIMIT:
            raise ValueError(f"expected ids from 0 to {ID_LIMIT - 1}, got {id}")
    return None, special, ids


def _is_pair(segment: object) -> bool:
    return isinstance(segment, tuple) and len(segment) == 2 and isinstance(segment[0], _TEXT)


def _text_of(segment: Any) -> Text | None:
    text = segment[0] if _is_pair(segment) else segment
    return text if isinstance(text, _TEXT) else None


def refused_in_segment(token: str, position: int, at: int) -> SpecialTokenError:
    """Return the error for a special token at `position` of the text of segment `at`."""
    return SpecialTokenError(token, position, at, "segments")


def listed_segments(segments: Iterable[SegmentLike]) -> list[SegmentLike]:
    """Return the argument `segments` of a call as a new list; raise TypeError if it has none."""
    is_list = isinstance(segments, list)  # the common case, fast
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
    if unit is not None:
        check_unit(unit)
    found = pipeline.encode_segments(listed, special, errors) if joined else None
    if found is not None:
        ids, places = found
        return Segmented(ids, places.find, listed, errors, unit)
    checked = _CheckedSegments(pipeline, listed, special, errors)
    ids, found_places = (_encode_joined if joined else _encode_apart)(pipeline, checked)
    return _with_places(ids, found_places, checked.texts.texts, errors, unit)


def _encode_joined(pipeline: Pipeline, segments: _CheckedSegments) -> _Result:
    """Return the ids, ends and spans of all segments as one text.

    A match of an added token crosses no end of a segment.
    """
    texts = segments.texts
    ends = texts.byte_ends
    ranges = zip(ends.tolist(), segments.policies, segments.ids, strict=True)
    try:
        ids, starts, stops = pipeline.spans_in_ranges(b"".join(texts.utf8), list(ranges))
    except SpecialTokenError as error:
        raise segments.located(error.token, error.position) from None
    # NFC may sort marks, so starts may descend, but never across an end of a part.
    begun = np.searchsorted(np.maximum.accumulate(starts), ends, side="left")
    # All tokens before the ids of a segment count to this segment, or to one before it.
    after_given = np.append(np.flatnonzero(stops == GIVEN_TOKEN) + 1, 0)
    sizes = np.array([len(given) for given in segments.ids], np.int64)
    all_ends = np.maximum.accumulate(np.where(sizes > 0, after_given[np.cumsum(sizes) - 1], begun))
    all_ends[-1:] = len(ids)  # a token of a prefix alone may come after all bytes
    return ids, (all_ends, starts, stops)


def _encode_apart(pipeline: Pipeline, segments: _CheckedSegments) -> _Result:
    """Return the ids, ends and spans of each segment by itself, one after the other."""
    rows = []
    start = 0
    for utf8, special, given in zip(
        segments.texts.utf8, segments.policies, segments.ids, strict=True
    ):
        try:
            ids, starts, stops = pipeline.spans_in_ranges(utf8, [(len(utf8), special, given)])
        except SpecialTokenError as error:
            raise segments.located(error.token, start + error.position) from None
        stops = np.where(stops == GIVEN_TOKEN, stops, stops + start)
        rows.append((ids, starts + start, stops))
        start += len(utf8)
    empty = np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.int64)
    ids, starts, stops = map(np.concatenate, zip(empty, *rows, strict=True))
    ends = np.cumsum([len(ids) for ids, *_ in rows], dtype=np.int64)
    return ids, (ends, starts, stops)
