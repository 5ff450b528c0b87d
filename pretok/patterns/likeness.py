"""Rank known patterns by their likeness to an unknown pattern, and align two lists.

Only error messages need this module, so speed matters more than the best result: Likeness ignores
the order of items, and `aligned` does not search for the best alignment of long lists.
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
"""Maximum size of the table in which `aligned` searches for the best alignment."""

_Item = TypeVar("_Item")


class Likeness:
    """Compares a pattern with known patterns by the keys of its alternatives and by its text.

    A key is any value that is equal for equivalent alternatives.
    """

    def __init__(self, known: Iterable[tuple[Sequence[Hashable], str]]) -> None:
        keys, texts = zip(*known, strict=True)
        self._keys = _Bags(keys)
        self._texts = _Bags([_pairs(text) for text in texts])

    def of(self, keys: Iterable[Hashable], text: str) -> NDArray[np.float64]:
        """Return the likeness to each known pattern: the sum of two Dice coefficients.

        The first coefficient compares the keys of alternatives. The second coefficient compares the
        pairs of adjacent characters in the texts. Equal patterns have likeness 2.
        """
        return self._keys.dice(keys) + self._texts.dice(_pairs(text))


class _Bags:
    """Bags (multisets) of items: a matrix with a row for each bag and a column for each item."""

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
        """Return, for each row, the Dice coefficient of `bag` and the bag of the row."""
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
    """Yield pairs (item of `ours`, item of `theirs`) in order, such as the lines of a diff.

    The number of pairs with equal keys is the largest possible, except for long lists. Unequal
    items between two such pairs are also paired. Items without a partner are paired with None.

    >>> list(aligned("abxd", "bcd", key=str))
    [('a', None), ('b', 'b'), ('x', 'c'), ('d', 'd')]
    """
    numbers: dict[Hashable, int] = {}
    a, b = (
        [numbers.setdefault(key(item), len(numbers)) for item in items] for items in (ours, theirs)
    )
    our_start, their_start = 0, 0
    for our_match, their_match in [*_matches(a, b), (len(a), len(b))]:
        yield from zip_longest(ours[our_start:our_match], theirs[their_start:their_match])
        if our_match < len(a):
            yield ours[our_match], theirs[their_match]
        our_start, their_start = our_match + 1, their_match + 1


def _matches(a: list[int], b: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the index pairs of a longest common subsequence.

    For long lists, yield only the common prefix and suffix.
    """
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        yield start, start
        start += 1
    suffix = 0
    while suffix < min(len(a), len(b)) - start and a[-1 - suffix] == b[-1 - suffix]:
        suffix += 1
    ends = len(a) - suffix, len(b) - suffix
    yield from _longest_common(a, b, start, ends)
    yield from zip(range(ends[0], len(a)), range(ends[1], len(b)), strict=True)


def _longest_common(
    a: list[int], b: list[int], start: int, ends: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    rows, columns = ends[0] - start, ends[1] - start
    if rows * columns > MAX_CELLS:
        return
    # lengths[i][j]: length of the longest common subsequence of a[start + i :] and b[start + j :].
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
