"""Compare the results of pretok and a peer, before anything is timed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pretok.errors import PretokError

MAX_SHOWN = 8
"""The maximum number of items to show of each result, beginning with the first difference."""
Arrays = tuple[NDArray[Any], NDArray[Any]]
"""The concatenated ids of n texts, and n + 1 offsets: text i has ids[offsets[i]:offsets[i + 1]]."""


class WrongAnswerError(PretokError, RuntimeError):
    """pretok and a peer give different results, so their times cannot be compared."""


def same_items(
    where: str,
    what: str,
    peer: str,
    ours: Sequence[Any],
    theirs: Sequence[Any],
    source: str = "pretok",
) -> None:
    """Raise WrongAnswerError if `ours` and `theirs` differ.

    In the message, `where` names the text, `what` an item (for example "id"), `source` the origin
    of `ours`, and `peer` the origin of `theirs`.
    """
    if len(ours) == len(theirs) and bool(np.all(np.asarray(ours == theirs))):
        return
    first = next(
        (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    raise WrongAnswerError(
        f"{where}: from {what} {first} on, {source} has {_shown(ours, first)}, but {peer} has "
        f"{_shown(theirs, first)}"
    )


def same_arrays(where: str, peer: str, ours: Arrays, theirs: Arrays) -> None:
    """Raise WrongAnswerError if the ids of any text differ; same_items explains the arguments."""
    if np.array_equal(ours[1], theirs[1]) and np.array_equal(ours[0], theirs[0]):
        return
    if len(ours[1]) != len(theirs[1]):
        raise WrongAnswerError(
            f"{where}: pretok has {len(ours[1]) - 1} documents, but {peer} has {len(theirs[1]) - 1}"
        )
    for number in range(len(ours[1]) - 1):
        our_ids, their_ids = (
            ids[offsets[number] : offsets[number + 1]].tolist() for ids, offsets in (ours, theirs)
        )
        same_items(f"{where}, document {number}", "id", peer, our_ids, their_ids)


def _shown(items: Sequence[Any], first: int) -> str:
    """Return the items from index `first` on, at most MAX_SHOWN of them, for a message."""
    part = items[first : first + MAX_SHOWN]
    if isinstance(part, np.ndarray):
        part = part.tolist()
    return ascii(part) if len(part) else "nothing"
