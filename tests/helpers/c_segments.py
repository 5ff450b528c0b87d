"""Call pretok_encode_segments through ctypes."""

from __future__ import annotations

import ctypes as c
from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

import pytest

from c_library import CError, CTokenizer

Part: TypeAlias = "tuple[bytes, str | Collection[str], Sequence[int]]"
"""A text, its policy, and the ids after it."""


class _Segment(c.Structure):
    _fields_ = [
        ("text", c.c_char_p),
        ("size", c.c_size_t),
        ("ids", c.POINTER(c.c_uint32)),
        ("id_count", c.c_size_t),
        ("special", c.c_int),
        ("allowed", c.c_void_p),
    ]


class _SegmentSpan(c.Structure):
    _fields_ = [(name, c.c_size_t) for name in ("segment", "start", "end_segment", "end")]


class SegmentedTokens(NamedTuple):
    """The result: ids, ends, and for each id (segment, start, end_segment, end)."""

    ids: list[int]
    ends: list[int]
    places: list[tuple[int, int, int, int]]


def in_c(tokenizer: CTokenizer, parts: Sequence[Part]) -> c.Array[_Segment]:
    """Return an array of pretok_segment."""
    segments = (_Segment * len(parts))()
    for segment, (text, special, ids) in zip(segments, parts, strict=True):
        options = tokenizer._options(special, False)._obj
        segment.text, segment.size = text, len(text)
        segment.ids, segment.id_count = (c.c_uint32 * len(ids))(*ids), len(ids)
        segment.special, segment.allowed = options.special, options.allowed
    return segments


def encode_segments(tokenizer: CTokenizer, parts: Sequence[Part], joined: bool) -> SegmentedTokens:
    """Return the ids, ends and places of segments; a CError has the index of its segment.

    Checks that a buffer which is too small is refused.
    """
    segments = in_c(tokenizer, parts)
    ends, failed, count = (c.c_size_t * len(parts))(), c.c_size_t(77), c.c_size_t()
    library = tokenizer.library

    def call(ids: object, spans: object, capacity: int) -> None:
        library.call(
            "encode_segments", tokenizer.handle, segments, c.c_size_t(len(parts)), c.c_bool(joined),
            ids, spans, c.c_size_t(capacity), c.byref(count), ends, c.byref(failed),
        )  # fmt: skip

    try:
        call(None, None, 0)
    except CError as error:
        error.text = failed.value
        raise
    size = count.value
    found, spans = (c.c_uint32 * size)(), (_SegmentSpan * size)()
    if size:
        with pytest.raises(CError, match="too small"):
            call(found, spans, size - 1)
    call(found, spans, size)
    places = [(span.segment, span.start, span.end_segment, span.end) for span in spans]
    return SegmentedTokens(list(found), list(ends), places)
