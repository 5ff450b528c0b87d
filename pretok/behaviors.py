"""What becomes of the parts of a text where a pattern matched: the five behaviors of Split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, get_args

from pretok.errors import InvalidRuleError, shortened

Behavior = Literal["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)

Part = tuple[int, int, bool]
"""(start, end, whether a match is in it), in any unit."""


def check_behavior(behavior: str, owner: str) -> Behavior:
    """Return `behavior` if there is such a one; raise InvalidRuleError, naming `owner`, if not."""
    for known in BEHAVIORS:
        if behavior == known:
            return known
    raise InvalidRuleError(f"{owner}: behavior={shortened(behavior)}; expected one of {BEHAVIORS}")


def applied(spans: Iterable[Part], behavior: Behavior, invert: bool = False) -> Iterator[Part]:
    """Yield the parts of a text that `behavior` makes of `spans`, as soon as they are known.

    `spans` are the matches and what lies between them, ascending, each with whether it is a match;
    `invert` swaps the two kinds. "isolated" keeps each as it is, "removed" drops the matches,
    "merged_with_previous" and "merged_with_next" join a match to the part before or behind it
    unless that is a match too, and "contiguous" joins neighbours of one kind. A match may be empty,
    and counts as a neighbour; no empty part is yielded. Raises InvalidRuleError for another
    behavior.

    >>> list(applied([(0, 2, False), (2, 3, True), (3, 4, True)], "merged_with_previous"))
    [(0, 3, True), (3, 4, True)]
    """
    parts = _MADE_BY[check_behavior(behavior, "applied")](
        ((start, end, not matched) for start, end, matched in spans) if invert else spans
    )
    return (part for part in parts if part[0] < part[1])


def _removed(spans: Iterable[Part]) -> Iterator[Part]:
    return (span for span in spans if not span[2])


def _merged_with_previous(spans: Iterable[Part]) -> Iterator[Part]:
    held: Part | None = None
    for start, end, matched in spans:
        if held is None:
            held = start, end, matched
        elif matched and not held[2]:
            held = held[0], end, True
        else:
            yield held
            held = start, end, matched
    if held is not None:
        yield held


def _merged_with_next(spans: Iterable[Part]) -> Iterator[Part]:
    held: Part | None = None
    for start, end, matched in spans:
        if not matched:
            yield (start, end, False) if held is None else (held[0], end, True)
            held = None
        else:
            if held is not None:
                yield held
            held = start, end, True
    if held is not None:
        yield held


def _contiguous(spans: Iterable[Part]) -> Iterator[Part]:
    held: Part | None = None
    for start, end, matched in spans:
        if held is not None and held[2] == matched:
            held = held[0], end, matched
        else:
            if held is not None:
                yield held
            held = start, end, matched
    if held is not None:
        yield held


_MADE_BY: dict[Behavior, Callable[[Iterable[Part]], Iterator[Part]]] = {
    "isolated": iter,
    "removed": _removed,
    "merged_with_previous": _merged_with_previous,
    "merged_with_next": _merged_with_next,
    "contiguous": _contiguous,
}
