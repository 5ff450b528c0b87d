"""Pack bits into words."""

from __future__ import annotations

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
