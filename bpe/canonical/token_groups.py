"""Define TokenGroups, which groups tokens whose texts all splits treat alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpe.canonical.classes import APOSTROPHE, Classes

Groups = NDArray[np.int64]
MAX_CLASSES = 1 << 16
"""The maximal number of classes; a key has 16 bits for each character."""


class TokenGroups:
    """Groups texts by their classes, with each run of a class shortened to two characters.

    Runs of a class that a rule counts stay. A letter counts as any other character of its set,
    unless it may end a contraction. If `after_apostrophe`, the first letters may do so as well.
    `of` has the group of each text, and `examples` has a text of each group.
    """

    def __init__(
        self, texts: Sequence[str], classes: Classes, after_apostrophe: bool = False
    ) -> None:
        """Group `texts`, none of which is empty."""
        keys = class_keys(texts, classes, 2, after_apostrophe)
        numbers: dict[bytes, int] = {}
        self.examples: list[str] = []
        groups = []
        for key, text in zip(keys, texts, strict=True):
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(self.examples)
                self.examples.append(text)
            groups.append(number)
        self.of: Groups = np.array(groups, np.int64)


def class_keys(
    texts: Sequence[str], classes: Classes, longest: int, after_apostrophe: bool = False
) -> Iterable[bytes]:
    """Yield the classes of each text, with runs of more than `longest` characters shortened."""
    sizes = np.array([len(text) for text in texts], np.int64)
    found = classes.text("".join(texts))
    ends = np.cumsum(sizes)
    place = np.arange(len(found)) - np.repeat(ends - sizes, sizes)  # in its text
    keep = np.ones(len(found), bool)
    if not classes.has_texts:
        refined = (place < classes.suffix_size) & after_apostrophe
        apostrophe = found == classes.of[ord(APOSTROPHE)]
        for back in range(1, classes.suffix_size + 1):
            refined[back:] |= apostrophe[:-back] & (place[back:] >= back)
        found = np.where(refined, found, classes.plain[found])
        repeats = np.ones(len(found), bool)
        for back in range(1, longest + 1):
            repeats[back:] &= (found[back:] == found[:-back]) & (place[back:] >= back)
            repeats[:back] = False
        keep = ~repeats | classes.counted[found]
    data = found[keep].astype("<u2").tobytes()
    kept = np.append(0, np.cumsum(keep))
    bounds = (2 * kept[np.append(0, ends)]).tolist()
    return (data[start:end] for start, end in pairwise(bounds))
