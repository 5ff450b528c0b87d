"""Define Splits, which finds all ways in which texts with a known start may be split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.canonical.classes import APOSTROPHE, Classes
from pretok.machine.backend import stage_backend
from pretok.machine.stream import Stream
from pretok.pre_tokenizer import PreTokenizer, native_machine

if TYPE_CHECKING:
    from pretok import _core

CLOSED, NO_TEXT = -2, -1
MAX_FOLLOWING = 2
"""The number of characters after a token that are tried."""
MAX_COUNTED = 5
"""The same number if a rule counts the last of them, as for groups of three digits."""


class Split(NamedTuple):
    """One way in which a text `before` + `token` + more may be split.

    `places` are the boundaries in `before`, without 0, in characters. `begins` says whether the
    token begins a pre-token. No boundary is inside the token.
    """

    places: tuple[int, ...]
    begins: bool


class Ways(NamedTuple):
    """The ways to split a text before tokens, and the rows that say which tokens are split so.

    A row has the index of a token, that of a way, and CLOSED if a pre-token ends with the token.
    Otherwise it has the class of the first character of a text after the token that causes the
    way, or NO_TEXT.
    """

    ways: list[Split]
    rows: NDArray[np.int64]


class Splits:
    """Finds ways to split, by trying texts of a character of each class after a token.

    A text is tried only while the pre-tokens up to the end of the token are not decided.
    cpp/core/split/split_ways.hpp does the same in C++.
    """

    def __init__(self, split: PreTokenizer, classes: Classes) -> None:
        """Store the parts."""
        self._split, self._classes = split, classes
        # PreTokenizer.stream looks them up for each stream, which takes longer than a short text.
        self._backends = [
            stage_backend(stage, split.unicode, split.backend) for stage in split.preset.stages
        ]
        self._native: _core.SplitFinder | None = None
        examples = [(class_, found[0]) for class_, found in enumerate(classes.examples) if found]
        letters = {class_ for class_, _ in examples if classes.plain[class_] != class_}
        self._plain = [(class_, char) for class_, char in examples if class_ not in letters]
        self._all = examples

        if split.backend == "native":
            from pretok import _core

            machine = native_machine(split)
            assert isinstance(machine, _core.Machine), "native_machine"
            counted = classes.counted.tolist()
            records = [
                (class_, char, class_ not in letters, counted[class_]) for class_, char in examples
            ]
            self._native = _core.SplitFinder(
                machine, records, classes.suffix_size, classes.has_texts
            )

    def of(self, before: str, tokens: list[str]) -> Ways:
        """Return all ways to split `before` + a token + any text."""
        if self._native is not None:
            ways, found = self._native.find(before, tokens)
            return Ways([Split(*way) for way in ways], found)
        numbers: dict[Split, int] = {}
        rows = [
            (index, numbers.setdefault(way, len(numbers)), first)
            for index, token in enumerate(tokens)
            for way, first in self._rows(before, token)
        ]
        return Ways(list(numbers), np.array(rows, np.int64).reshape(-1, 3))

    def _rows(self, before: str, token: str) -> Iterator[tuple[Split, int]]:
        """Yield the ways to split `before` + `token` + any text, and the last items of rows."""
        text, size = before + token, len(before)
        pending: list[tuple[str, int, list[int] | None]] = [("", NO_TEXT, None)]
        while pending:
            after, first, shape_before = pending.pop()
            decided = self._decided(text + after)
            if any(size < place < len(text) for place in decided):
                continue
            end = decided[-1] if decided else 0
            places = decided if end >= len(text) else self.ends(text + after)
            if not any(size < place < len(text) for place in places):
                begins = size == 0 or size in places
                way = Split(tuple(place for place in places if place < size), begins)
                if len(text) not in places:
                    yield way, first
                else:
                    yield way, CLOSED
                    if not after and end >= size:
                        break  # no text after the token gives another way
            shape = [place for place in places if place < len(text)]
            if end < len(text) and self._is_open(after, shape != shape_before):
                pending += [
                    (after + char, first if after else class_, shape)
                    for class_, char in self._next(text + after)
                ]

    def _is_open(self, after: str, is_new: bool) -> bool:
        """Return whether to try longer texts than `after`.

        `is_new` says whether the last character of `after` moves a boundary before it. If it does
        not, characters after it cause the same ways as without it, unless a rule counts it.
        """
        classes = self._classes
        if not after:
            return True
        is_counted = bool(classes.counted[classes.text(after)[-1]])
        may_contract = APOSTROPHE in after[-max(classes.suffix_size, 1) :]
        if is_counted or may_contract or classes.has_texts:
            return len(after) < MAX_COUNTED
        return is_new and len(after) < MAX_FOLLOWING

    def ends(self, text: str) -> list[int]:
        """Return the ends of the pre-tokens of a text."""
        ends: list[int] = self._split.offsets(text).tolist()
        return ends[1:]

    def _next(self, text: str) -> list[tuple[int, str]]:
        """Return the classes to try after `text`, with an example of each."""
        classes = self._classes
        reach = max(classes.suffix_size, 1)
        if classes.has_texts or APOSTROPHE in text[-reach:]:
            return self._all
        return self._plain

    def _decided(self, text: str) -> list[int]:
        """Return the ends of the pre-tokens that more text does not change."""
        ends, end = [], 0
        stream = Stream(self._backends, self._split.preset.stages)
        for part in stream.feed(text):
            end += len(part)
            ends.append(end)
        return ends
