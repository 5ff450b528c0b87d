"""Define Splits, which finds all ways in which texts with a known start may be split."""

from __future__ import annotations

from typing import NamedTuple

from bpe.canonical.classes import APOSTROPHE, Classes
from pretok.machine.backend import stage_backend
from pretok.machine.stream import Stream
from pretok.pre_tokenizer import PreTokenizer

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
    """The ways to split a text, and the texts after it that cause them.

    `closed` maps a way in which a pre-token ends with the token to a text after the token.
    `open` maps any other way to the classes of the first characters of the texts after it.
    """

    closed: dict[Split, str]
    open: dict[Split, frozenset[int]]


class Splits:
    """Finds ways to split, by trying texts of a character of each class after a token.

    A text is tried only while the pre-tokens up to the end of the token are not decided.
    """

    def __init__(self, split: PreTokenizer, classes: Classes) -> None:
        """Store the parts."""
        self._split, self._classes = split, classes
        # PreTokenizer.stream looks them up for each stream, which takes longer than a short text.
        self._backends = [
            stage_backend(stage, split.unicode, split.backend) for stage in split.preset.stages
        ]
        examples = [(class_, found[0]) for class_, found in enumerate(classes.examples) if found]
        letters = {class_ for class_, _ in examples if classes.plain[class_] != class_}
        self._plain = [(class_, char) for class_, char in examples if class_ not in letters]
        self._all = examples

    def ways(self, before: str, token: str) -> Ways:
        """Return all ways to split `before` + `token` + any text."""
        text, size = before + token, len(before)
        closed: dict[Split, str] = {}
        opened: dict[Split, set[int]] = {}
        pending: list[tuple[str, int, list[int] | None]] = [("", -1, None)]
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
                if len(text) in places:
                    closed.setdefault(way, after)
                    if not after and end >= size:
                        break  # no text after the token gives another way
                else:
                    opened.setdefault(way, set()).add(first)
            shape = [place for place in places if place < len(text)]
            if end < len(text) and self._is_open(after, shape != shape_before):
                pending += [
                    (after + char, class_ if first < 0 else first, shape)
                    for class_, char in self._next(text + after)
                ]
        return Ways(closed, {way: frozenset(classes) for way, classes in opened.items()})

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
