"""Join the results of the normalized segments of a text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from bpe.encoding.normalized_segments import NormalizedSegment, Work
from bpe.types import Ids, Spans


def join_ids(segments: Iterable[NormalizedSegment], work: Work[list[int]]) -> list[int]:
    """Return the ids of a text from those of its segments."""
    return [id for segment in segments for id in segment.encode(work, lambda id: [id])]


def join_arrays(segments: Iterable[NormalizedSegment], work: Work[Ids]) -> Ids:
    """Return the ids of a text as an array."""
    array_of_one = partial(np.array, ndmin=1, dtype=np.uint32)
    arrays = [segment.encode(work, array_of_one) for segment in segments]
    return np.concatenate([np.zeros(0, np.uint32), *arrays])


def sum_counts(segments: Iterable[NormalizedSegment], work: Work[int]) -> int:
    """Return the number of ids of a text."""
    return sum(segment.encode(work, lambda id: 1) for segment in segments)


def join_spans(segments: Iterable[NormalizedSegment], work: Work[Spans]) -> Spans:
    """Return the ids of a text, and the start and the end of each id."""
    empty = np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.int64)
    spans = [empty, *(segment.spans(work) for segment in segments)]
    ids, starts, ends = zip(*spans, strict=True)
    return np.concatenate(ids), np.concatenate(starts), np.concatenate(ends)
