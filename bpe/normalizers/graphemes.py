"""Find the grapheme clusters that tokenizers 0.23.3 finds to apply a charsmap.

The library uses the Rust crate unicode-segmentation with Unicode 17. The differences to Unicode 18
were measured with all code points. A flag, which is a pair of regional indicators, is not joined
here, and some unassigned code points from U+E0000 on are not controls. This has no effect: clusters
of more than 5 bytes are replaced character by character.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpe.normalizers.characters import ranges
from pretok.text import code_points_of
from pretok.unicode.graphemes import Kind, between, cluster_starts, kind_table

CHANGES = {
    Kind.OTHER: """
5C8-5C9 B53-B54 1ADE-1ADF 1AEC-1AF0 1CF5-1CF6 10ECB-10ECF 10EF0-10EF9 11A3A 11B0A 11DF0-11DF1
1D127-1D128 1D250-1D252 1D25B-1D25C 1D25F 1D280-1D281 1F1E6-1F1FF E0000 E0002-E001F E0080-E00FF
E01F0-E0FFF
""",
    Kind.CONTROL: "D800-DFFF",
    Kind.PICTOGRAPHIC: "1F1AE 1F7DA-1F7DB 1F7F1-1F7FF",
}
"""The code points whose kind differs from `kind_table`, by their kind here."""


@cache
def kinds() -> NDArray[np.uint8]:
    """Return the kind of each code point, in read-only memory."""
    table = kind_table().copy()
    for kind, listed in CHANGES.items():
        for first, last in ranges(listed):
            table[first : last + 1] = kind
    table.flags.writeable = False
    return table


def clusters(text: str) -> Iterator[str]:
    """Yield the clusters of `text`. Takes linear time.

    >>> [len(cluster) for cluster in clusters("e\\u0301a\\r\\n")]
    [2, 1, 2]
    """
    if text.isascii() and "\r\n" not in text:
        yield from text
        return
    starts = cluster_starts(kinds()[code_points_of(text)], _linked_consonants).tolist()
    for start, end in pairwise([*starts, len(text)]):
        yield text[start:end]


def _linked_consonants(found: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each Indic consonant joins the consonant before it.

    It does if only marks are between the two, and one of them is a linker.
    """
    is_linker = found == Kind.LINKER
    marks = between(is_linker | np.isin(found, (Kind.EXTEND, Kind.ZWJ)), places)
    has_only_marks = marks == np.diff(places) - 1
    return np.append(False, has_only_marks & (between(is_linker, places) > 0))
