"""Define TokenGroups, which groups tokens whose texts all splits treat alike."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from bpe.canonical.classes import APOSTROPHE, Classes

Groups = NDArray[np.int64]
MAX_CLASSES = 1 << 16
"""The maximal number of classes; a key has 16 bits for each character."""
KEPT_AT_ENDS = 2
"""The number of characters at each end of a run that a key of a text keeps."""


class TokenGroups:
    """Groups texts by their classes, with each run of a class shortened to two characters.

    Runs of a class that a rule counts stay. A letter counts as any other character of its set,
    unless it may end a contraction. If `after_apostrophe`, the first letters may do so as well.
    `of` has the group of each text, `examples` has a text of each group, and `firsts` has the first
    characters of these texts.
    """

    def __init__(
        self, texts: Sequence[str], classes: Classes, after_apostrophe: bool = False
    ) -> None:
        """Group `texts`, none of which is empty."""
        numbers: dict[bytes, int] = {}
        self.examples: list[str] = []
        groups = []
        for key, text in zip(_keys(texts, classes, after_apostrophe), texts, strict=True):
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(self.examples)
                self.examples.append(text)
            groups.append(number)
        self.of: Groups = np.array(groups, np.int64)
        self.firsts = {text[0] for text in self.examples}


class TextKey:
    """The classes of a text whose long runs of a class keep two characters at each end.

    More text splits texts with equal `key` alike. `to_text` maps a place of the key to the place
    in the text.
    """

    def __init__(self, text: str, classes: Classes) -> None:
        """Find the runs."""
        found = classes.text(text)
        if not classes.has_texts:
            found = _without_letters(found, np.arange(len(found)), classes, False)
        self.to_text: list[int] = []
        self._middles: set[int] = set()
        for class_, run in groupby(range(len(found)), found.tolist().__getitem__):
            places = list(run)
            is_long = len(places) >= 2 * KEPT_AT_ENDS
            if is_long and not (classes.has_texts or classes.counted[class_]):
                self._middles.add(places[-KEPT_AT_ENDS])
                places = places[:KEPT_AT_ENDS] + places[-KEPT_AT_ENDS:]
            self.to_text += places
        self.key = found[self.to_text].astype("<u2").tobytes()
        self.to_text.append(len(found))

    def of_text(self, place: int) -> int | None:
        """Return the place of the key for a place of the text; None if the key does not tell it."""
        if place in self._middles:
            return None
        at = bisect_left(self.to_text, place)
        return at if self.to_text[at] == place else None


def _keys(texts: Sequence[str], classes: Classes, after_apostrophe: bool) -> Iterable[bytes]:
    """Yield the classes of each text, with runs of more than two characters shortened."""
    sizes = np.array([len(text) for text in texts], np.int64)
    found = classes.text("".join(texts))
    ends = np.cumsum(sizes)
    place = np.arange(len(found)) - np.repeat(ends - sizes, sizes)  # in its text
    keep = np.ones(len(found), bool)
    if not classes.has_texts:
        found = _without_letters(found, place, classes, after_apostrophe)
        repeats = np.ones(len(found), bool)
        for back in (1, 2):
            repeats[back:] &= (found[back:] == found[:-back]) & (place[back:] >= back)
            repeats[:back] = False
        keep = ~repeats | classes.counted[found]
    data = found[keep].astype("<u2").tobytes()
    kept = np.append(0, np.cumsum(keep))
    bounds = (2 * kept[np.append(0, ends)]).tolist()
    return (data[start:end] for start, end in pairwise(bounds))


def _without_letters(
    found: NDArray[np.int32], place: NDArray[np.int64], classes: Classes, after_apostrophe: bool
) -> NDArray[np.int32]:
    """Return classes in which a letter counts as any other one, unless it may end a contraction.

    `place` has the place of each character in its text.
    """
    refined = (place < classes.suffix_size) & after_apostrophe
    apostrophe = found == classes.of[ord(APOSTROPHE)]
    for back in range(1, classes.suffix_size + 1):
        refined[back:] |= apostrophe[:-back] & (place[back:] >= back)
    return np.where(refined, found, classes.plain[found])
