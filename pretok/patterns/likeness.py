"""Likeness: which known pattern one resembles; aligned: which parts of two lists are equal.

Both are for wording an error, so they are bounded: likeness is that of two bags, whatever the
order in them, and long lists are not aligned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import zip_longest
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

MAX_CELLS = 1 << 14
"""The size of the table up to which `aligned` looks for the best alignment."""

_Item = TypeVar("_Item")


class Likeness:
    """Compares a pattern with known ones, by the keys of its alternatives and by its text."""

    def __init__(self, known: Iterable[tuple[Sequence[Hashable], str]]) -> None:
        keys, texts = zip(*known, strict=True)
        self._keys = _Bags(keys)
        self._texts = _Bags([_pairs(text) for text in texts])

    def of(self, keys: Iterable[Hashable], text: str) -> NDArray[np.float64]:
        """Return the likeness to each known pattern: the Dice coefficients of keys and text.

        It is 2 for a pattern that is the same; the text counts by pairs of neighbouring characters.
        """
        return self._keys.dice(keys) + self._texts.dice(_pairs(text))


class _Bags:
    """Bags of items, as the rows of a matrix that has a column for each item."""

    def __init__(self, bags: Iterable[Iterable[Hashable]]) -> None:
        counted = [Counter(bag) for bag in bags]
        items = {item: None for bag in counted for item in bag}
        self._columns = {item: column for column, item in enumerate(items)}
        self._counts = np.zeros((len(counted), len(items)), np.int64)
        for row, bag in zip(self._counts, counted, strict=True):
            for item, count in bag.items():
                row[self._columns[item]] = count
        self._sizes = self._counts.sum(axis=1)

    def dice(self, bag: Iterable[Hashable]) -> NDArray[np.float64]:
        """Return twice the number of common items, of all that `bag` and each row have."""
        counted = Counter(bag)
        shared = counted.keys() & self._columns.keys()
        columns = [self._columns[item] for item in shared]
        counts = [counted[item] for item in shared]
        common = np.minimum(self._counts[:, columns], counts).sum(axis=1)
        dice: NDArray[np.float64] = 2 * common / np.maximum(self._sizes + counted.total(), 1)
        return dice


def _pairs(text: str) -> Iterable[str]:
    return map(add, text, text[1:])


def aligned(
    ours: Sequence[_Item], theirs: Sequence[_Item], key: Callable[[_Item], Hashable]
) -> Iterator[tuple[_Item | None, _Item | None]]:
    """Yield the items of both in order, those with equal keys together, as many as can be.

    None stands for an item that only one of them has; an item of both may differ from its partner.

    >>> list(aligned("abxd", "bcd", key=str))
    [('a', None), ('b', 'b'), ('x', 'c'), ('d', 'd')]
    """
    numbers: dict[Hashable, int] = {}
    a, b = (
        [numbers.setdefault(key(item), len(numbers)) for item in each] for each in (ours, theirs)
    )
    at, other = 0, 0
    for match, partner in [*_matches(a, b), (len(a), len(b))]:
        yield from zip_longest(ours[at:match], theirs[other:partner])
        if match < len(a):
            yield ours[match], theirs[partner]
        at, other = match + 1, partner + 1


def _matches(a: list[int], b: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the places of a longest common subsequence; a common start and end if they are long."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        yield start, start
        start += 1
    same = 0
    while same < min(len(a), len(b)) - start and a[-1 - same] == b[-1 - same]:
        same += 1
    ends = len(a) - same, len(b) - same
    yield from _best(a, b, start, ends)
    yield from zip(range(ends[0], len(a)), range(ends[1], len(b)), strict=True)


def _best(
    a: list[int], b: list[int], start: int, ends: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    rows, columns = ends[0] - start, ends[1] - start
    if rows * columns > MAX_CELLS:
        return
    # lengths[i][j] is that of the longest common subsequence of a[start + i :] and b[start + j :].
    lengths = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            lengths[i][j] = (
                lengths[i + 1][j + 1] + 1
                if a[start + i] == b[start + j]
                else max(lengths[i + 1][j], lengths[i][j + 1])
            )
    i = j = 0
    while i < rows and j < columns:
        if a[start + i] == b[start + j]:
            yield start + i, start + j
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
