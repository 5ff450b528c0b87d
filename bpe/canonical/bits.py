"""Pack bits into words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bpe.types import Ids

WORD_BITS = 32


def packed_bits(bits: NDArray[np.bool_]) -> Ids:
    """Return bits as words of 32 bits; bit i of word w is item 32 * w + i.

    >>> import numpy as np
    >>> packed_bits(np.array([True, False, True])).tolist()
    [5]
    """
    padded = np.zeros(-len(bits) // WORD_BITS * -WORD_BITS, np.uint8)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view("<u4").astype(np.uint32, copy=False)


def has_bit(words: Ids, place: int) -> bool:
    """Return whether the bit at `place` is set."""
    return bool(words[place // WORD_BITS] >> place % WORD_BITS & 1)


def places_of(words: Ids) -> list[int]:
    """Return the places of all bits that are set.

    >>> places_of(np.array([5, 1], np.uint32))
    [0, 2, 32]
    """
    used = np.flatnonzero(words)
    bits = np.unpackbits(words[used].astype("<u4").view(np.uint8), bitorder="little")
    rows, columns = np.nonzero(bits.reshape(-1, WORD_BITS))
    places: list[int] = (used[rows] * WORD_BITS + columns).tolist()
    return places


def set_bits(words: Ids, places: Iterable[int], to: bool) -> None:
    """Set the bits at `places` to `to`."""
    at = np.fromiter(places, np.int64)
    bits = np.uint32(1) << (at % WORD_BITS).astype(np.uint32)
    if to:
        np.bitwise_or.at(words, at // WORD_BITS, bits)
    else:
        np.bitwise_and.at(words, at // WORD_BITS, ~bits)
