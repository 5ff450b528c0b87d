"""Apply the five behaviors of Split in Hugging Face's tokenizers.

A behavior joins, keeps or drops the matches of a pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, get_args

from pretok.errors import DefinitionError, quoted, shortened

Behavior = Literal["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)
JSON_NAMES: dict[Behavior, str] = {
    behavior: "".join(map(str.capitalize, behavior.split("_"))) for behavior in BEHAVIORS
}
"""Maps a behavior to its name in a tokenizer.json, such as "MergedWithPrevious"."""

Part = tuple[int, int, bool]
"""(start, end, True if the part contains a match). The span is half-open, in any unit."""


def check_behavior(behavior: str, owner: str) -> Behavior:
    """Return `behavior`. Raise DefinitionError if `behavior` is unknown.

    The error message starts with `owner`, the name of the caller.
    """
    for known in BEHAVIORS:
        if behavior == known:
            return known
    raise DefinitionError(
        f"{owner}: behavior={shortened(behavior)}; expected one of {quoted(BEHAVIORS)}"
    )


def apply_behavior(
    spans: Iterable[Part], behavior: Behavior, invert: bool = False
) -> Iterator[Part]:
    """Yield `spans`, joined or dropped as `behavior` says.

    `spans` are the matches and the gaps between matches, ascending. A part is yielded as soon as no
    later span can join the part. `invert` swaps matches and gaps.

    "isolated" keeps each span, and "removed" drops the matches. "merged_with_previous" joins each
    match to the gap before the match. "merged_with_next" joins each match to the gap after the
    match. These two behaviors never join two adjacent matches. "contiguous" joins adjacent matches
    to each other, and adjacent gaps to each other. An empty match is joined like any other match,
    but an empty part is never yielded. Raises DefinitionError for an unknown behavior.

    >>> list(apply_behavior([(0, 2, False), (2, 3, True), (3, 4, True)], "merged_with_previous"))
    [(0, 3, True), (3, 4, True)]
    """
    parts = _APPLY[check_behavior(behavior, "apply_behavior")](
        ((start, end, not matched) for start, end, matched in spans) if invert else spans
    )
    return (part for part in parts if part[0] < part[1])


# In the following functions, `held` is the last part, which the next span may still join.
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


_APPLY: dict[Behavior, Callable[[Iterable[Part]], Iterator[Part]]] = {
    "isolated": iter,
    "removed": lambda spans: (span for span in spans if not span[2]),
    "merged_with_previous": _merged_with_previous,
    "merged_with_next": _merged_with_next,
    "contiguous": _contiguous,
}
