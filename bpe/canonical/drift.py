"""Compare ids with the ids that encoding their text gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.errors import shortened
from bpe.types import SegmentLike, Special

Decode = Callable[[Sequence[int]], bytes]
Integers: TypeAlias = "NDArray[np.integer[Any]]"


def first_difference(ids: Sequence[int] | Integers, other: Integers) -> int | None:
    """Return the index of the first item in which two sequences differ, or None."""
    size = min(len(ids), len(other))
    different = np.flatnonzero(np.asarray(ids[:size], np.int64) != other[:size])
    if len(different):
        return int(different[0])
    return None if len(ids) == len(other) else size


def segments_of(
    ids: Sequence[int], added: Collection[int], decode: Decode, special: Special
) -> Iterator[SegmentLike]:
    """Yield the segments of `ids`: added tokens as ids, and the texts between them."""
    for is_added, group in groupby(map(index, ids), added.__contains__):
        part = list(group)
        yield part if is_added else (decode(part), special)


def check_start(start: int, size: int) -> None:
    """Raise ValueError unless `start` is an int from 0 to `size`."""
    if not isinstance(start, int) or not 0 <= start <= size:
        raise ValueError(
            f"start={shortened(start)}; expected an int from 0 to {size}, the number of ids"
        )


def check_policy(special: Special) -> None:
    """Raise ValueError if `special` refuses tokens."""
    if special == "raise":
        raise ValueError(
            'special="raise"; expected "allow", "text", "plain", "content" or a set of special '
            "tokens"
        )
