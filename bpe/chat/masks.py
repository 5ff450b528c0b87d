"""Choose the ids of a chat that a loss counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.chat.origins import TextSource
from bpe.chat.rendering import Segments
from bpe.errors import shortened
from bpe.types import Offsets

Chosen: TypeAlias = str | Collection[str] | Callable[[TextSource | None], bool]
"""The text that a mask selects: "generation", a role, a set of roles, or a function of a source."""
Crossing: TypeAlias = Literal["any", "begins", "ends", "whole"]
"""The ids that count if they cross a border of the chosen text."""

Interval: TypeAlias = tuple[int, int, int | None]
"""The first and the last segment of chosen text, and its end, if it is not that of the segment."""


def chosen_intervals(
    segments: Segments, chosen: Chosen, after: Callable[[int, int], int | None]
) -> list[Interval]:
    """Return the intervals of chosen text, in order.

    `after(segment, following)` returns the end of the id that ends a message between two segments.
    Raises TypeError and ValueError for a wrong `chosen`.
    """
    if callable(chosen):
        return _alone(at for at, source in enumerate(segments.sources) if chosen(source))
    if chosen == "generation":
        if not segments.has_generation:
            raise ValueError(
                "expected a template with {% generation %} blocks, got one without; pass a role, "
                'such as "assistant"'
            )
        return _alone(at for at, is_in in enumerate(segments.is_generated) if is_in)
    check_chosen(chosen)
    roles = {chosen} if isinstance(chosen, str) else chosen
    return list(_messages(segments, roles, after))


def check_chosen(chosen: Chosen) -> None:
    """Raise TypeError for a wrong `chosen`."""
    is_known = isinstance(chosen, Collection) and all(isinstance(role, str) for role in chosen)
    if not is_known and not callable(chosen):
        raise TypeError(
            f"mask={shortened(chosen)}; expected 'generation', a role, a set of roles, or a "
            "function of a source"
        )


def check_crossing(crossing: Crossing) -> None:
    """Raise ValueError for an unknown `crossing`."""
    if crossing not in get_args(Crossing):
        raise ValueError(
            f"crossing={shortened(crossing)}; expected 'any', 'begins', 'ends' or 'whole'"
        )


def _alone(indices: Iterator[int]) -> list[Interval]:
    return [(at, at, None) for at in indices]


def _messages(
    segments: Segments, roles: Collection[str], after: Callable[[int, int], int | None]
) -> Iterator[Interval]:
    """Yield the intervals of the messages with one of `roles`."""
    known = [at for at, source in enumerate(segments.sources) if source is not None]
    place = 0
    while place < len(known):
        message = _message_of(segments.sources[known[place]])
        first = last = known[place]
        while place < len(known) and _message_of(segments.sources[known[place]]) == message:
            last = known[place]
            place += 1
        if message is not None and segments.roles[message] in roles:
            following = known[place] if place < len(known) else len(segments)
            yield first, last, after(last, following)


def _message_of(source: TextSource | None) -> int | None:
    """Return the index of the message of a source."""
    is_message = source is not None and len(source) > 1 and source[0] == "messages"
    return int(source[1]) if source is not None and is_message else None


def mask_of(
    starts: Offsets, stops: Offsets, intervals: list[tuple[int, int]], crossing: Crossing
) -> NDArray[np.bool_]:
    """Return which spans lie in `intervals`, which ascend.

    Raises ValueError for an unknown `crossing`.
    """
    check_crossing(crossing)
    bounds = np.array([*_merged(intervals), (_NEVER, _NEVER)], np.int64)
    firsts, lasts = bounds[:, 0], bounds[:, 1]
    at = np.searchsorted(lasts, starts, side="right")  # the first interval that ends after a start
    if crossing == "any":
        return firsts[at] < stops
    begins = firsts[at] <= starts
    if crossing == "begins":
        return begins
    if crossing == "whole":
        return begins & (stops <= lasts[at])
    return firsts[np.searchsorted(lasts, stops)] < stops


_NEVER = np.iinfo(np.int64).max


def _merged(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in intervals:
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
