"""Define OpenWays, which finds the ways to split an open text and each token."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.canonical.bits import packed_bits
from bpe.canonical.classes import APOSTROPHE, Classes
from bpe.canonical.splits import CLOSED, Split, Splits, Ways
from bpe.canonical.token_groups import TextKey, TokenGroups
from bpe.canonical.token_texts import TokenTexts
from bpe.once import kept
from bpe.types import Ids

MAX_WAYS = 256
"""The maximal number of open texts whose ways to split are kept."""


class OpenWay(NamedTuple):
    """One way to split an open text and tokens.

    `closed` and `tried` are bit masks of ids: `closed` of those whose token can end a pre-token in
    this way, `tried` of all that can be split in this way. `open_groups` has the groups of tokens
    that do not end the pre-token, sorted, and `firsts` the classes of the characters after them.
    """

    way: Split
    closed: Ids
    tried: Ids
    groups: TokenGroups
    open_groups: NDArray[np.int64]
    firsts: NDArray[np.int64]

    def firsts_after(self, places: range) -> frozenset[int]:
        """Return the classes of the characters that may follow the texts at `places`."""
        groups = self.groups.of[places.start : places.stop]
        lows = np.searchsorted(self.open_groups, groups)
        highs = np.searchsorted(self.open_groups, groups, "right")
        parts = (self.firsts[low:high].tolist() for low, high in zip(lows, highs, strict=True))
        return frozenset().union(*parts)


class OpenWays:
    """Finds the ways to split, and keeps those of the last open texts."""

    def __init__(
        self,
        classes: Classes,
        splits: Splits,
        texts: TokenTexts,
        is_cut: Callable[[str, str], bool],
        size: int,
    ) -> None:
        """Store the parts; is_cut(a, b) says whether every text is cut between two characters."""
        self._classes, self._splits, self._texts = classes, splits, texts
        self._is_cut, self._size = is_cut, size
        self._groups = TokenGroups(texts.texts, classes)
        self._after_apostrophe = self._groups
        if classes.suffix_size:
            self._after_apostrophe = TokenGroups(texts.texts, classes, True)
        # The ways to split each token at the start of a text.
        self._solo = {
            groups: splits.of("", groups.examples)
            for groups in (self._groups, self._after_apostrophe)
        }
        self._known: dict[tuple[bytes, bool], list[OpenWay]] = {}

    def of(self, text: str) -> list[OpenWay]:
        """Return the ways to split `text` and each token."""
        key = TextKey(text, self._classes)
        short, exact = (key.key, True), (self._classes.text(text).tobytes(), False)
        found = self._known.get(short)
        if found is not None:
            places = key.to_text
            return [
                each._replace(
                    way=Split(tuple(places[at] for at in each.way.places), each.way.begins)
                )
                for each in found
            ]
        found = self._known.get(exact)
        if found is not None:
            return found
        found = self._find(text)
        shortened = []
        for each in found:
            ats = [key.of_text(place) for place in each.way.places]
            if None in ats:
                self._known[exact] = found
                break
            way = Split(tuple(at for at in ats if at is not None), each.way.begins)
            shortened.append(each._replace(way=way))
        else:
            self._known[short] = shortened
        if len(self._known) > MAX_WAYS:
            # Another thread may add texts, so this iterates over a copy.
            for old in list(self._known)[: MAX_WAYS // 2]:
                self._known.pop(old, None)
        return found

    def _find(self, text: str) -> list[OpenWay]:
        reach = max(self._classes.suffix_size, 1)
        groups = self._after_apostrophe if APOSTROPHE in text[-reach:] else self._groups
        if not text:
            ways = self._solo[groups]
        else:
            cut = {char: self._is_cut(text[-1], char) for char in groups.firsts}
            joined = [at for at, token in enumerate(groups.examples) if not cut[token[0]]]
            is_cut = np.ones(len(groups.examples), bool)
            is_cut[joined] = False
            ways = self._splits.of(text, [groups.examples[at] for at in joined])
            ways.rows[:, 0] = np.array(joined, np.int64)[ways.rows[:, 0]]
            alone = self._solo[groups].rows
            alone = alone[is_cut[alone[:, 0]]]
            if len(alone):
                way = Split(tuple(self._splits.ends(text)[:-1]), True)
                known = [*ways.ways] if way in ways.ways else [*ways.ways, way]
                alone[:, 1] = known.index(way)
                ways = Ways(known, np.concatenate([ways.rows, alone]))
        return [
            self._open_way(way, groups, ways.rows[ways.rows[:, 1] == number])
            for number, way in enumerate(ways.ways)
        ]

    def _open_way(self, way: Split, groups: TokenGroups, rows: NDArray[np.int64]) -> OpenWay:
        is_closed = rows[:, 2] == CLOSED
        open_groups, _, firsts = rows[~is_closed].T
        order = np.argsort(open_groups, kind="stable")
        closed = self._mask(groups, frozenset(rows[is_closed, 0].tolist()))
        tried = self._mask(groups, frozenset(rows[:, 0].tolist()))
        return OpenWay(way, closed, tried, groups, open_groups[order], firsts[order])

    @kept(MAX_WAYS)
    def _mask(self, groups: TokenGroups, chosen: frozenset[int]) -> Ids:
        """Return a bit mask of the ids that have a text of one of the groups."""
        is_chosen = np.zeros(len(groups.examples), bool)
        is_chosen[list(chosen)] = True
        bits = np.zeros(self._size, bool)
        bits[self._texts.ids[is_chosen[groups.of]]] = True
        return packed_bits(bits)
