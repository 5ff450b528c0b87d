"""Find where the ids of a text end, from the sizes of their tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.characters.marks import SPACE_MARK
from bpe.types import Ids

MAX_SIZE = (1 << 30) - 1
"""Ends in a text of at most this size are int32."""


def token_ends(
    ids: Ids, sizes: NDArray[np.int32], data: bytes, may_have_prefix: bool, may_have_marks: bool
) -> NDArray[np.signedinteger[Any]] | None:
    """Return the end of each id in `data`, or None if the sizes do not add up to its size.

    `sizes` has the number of bytes of each id, in which "\u2581" counts one byte, as a space of the
    text does. If `may_have_prefix`, the first id may stand for one byte more. If `may_have_marks`,
    each "\u2581" of the text itself is three bytes. pretok._core.token_ends does the same.

    >>> sizes = np.array([1, 2], np.int32)
    >>> token_ends(np.array([0, 1], np.uint32), sizes, b"abc", False, False).tolist()
    [1, 3]
    """
    dtype = np.int32 if len(data) <= MAX_SIZE else np.int64
    ends: NDArray[np.signedinteger[Any]] = np.cumsum(sizes.take(ids), dtype=dtype)
    size, starts = len(data), np.zeros(0, np.int64)
    last = int(ends[-1]) if len(ends) else 0
    if may_have_marks and last < size:
        mark = SPACE_MARK.encode()
        lengths = np.array([len(part) for part in data.split(mark)[:-1]], np.int64)
        # The places of the marks if each one were one byte.
        starts = np.cumsum(lengths + 1) - 1
        size -= (len(mark) - 1) * len(starts)
    extra = last - size
    if not 0 <= extra <= may_have_prefix:
        return None
    if extra:
        ends = ends - extra
    if len(starts):
        ends = ends + (2 * np.searchsorted(starts, ends)).astype(dtype)
    return ends
