r"""List the strings that show the first match of a pattern in every string of some length.

A pattern such as `'(?:s|t)|\p{L}+|.` has the classes "s", "t", "'", other letters and the rest. All
strings of six of these are 15,625. But after " " nothing can change the first match, and only
after "'" does it matter whether a letter is "s" or "t". So `telling_strings` has a small part of
them. If two engines find the same first match in each of these, they do so in every string over the
classes, and then they also find the same further matches: a match depends only on the text from its
start on.

Proof. A leaf is a set of code points in a pattern. To try a leaf at index i of a text, an engine
either starts the match there, with a leaf that can be the first one, or has just matched a leaf at
index i - 1 that this one can follow. So the leaves that an engine may try at index i depend only on
the leaves that it may try at i - 1, and on which of them match. `_Leaves` computes a superset of
these leaves. Replacing a letter by one that matches the same leaves of this superset changes no
step of the engine; and if no leaf matches, the engine reads no more text, not even its end. This
holds for the rules of a preset too: `str(rule)` is the pattern that a rule matches, and its leaves
are the sets of the rule. So the leaves are those of the pattern and of all rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import regex

from compiled_patterns import representatives
from pretok.charsets.sets import code_points
from pretok.patterns.ast import (
    Alternatives,
    Chars,
    EndAnchor,
    EngineSpecific,
    Group,
    Lookahead,
    Node,
    Repeat,
    Sequence,
)
from pretok.patterns.parser import read
from pretok.preset import Preset
from pretok.unicode import DEFAULT_VERSION, table


def telling_strings(preset: Preset) -> TellingStrings | None:
    """Return the telling strings of the pattern and the rules of `preset`, over `representatives`.

    Returns None if the pattern has a construct that looks at the text before it.
    """
    leaves = _Leaves()
    for pattern in (preset.pattern, *map(str, preset.rules)):
        if not leaves.add(read(pattern, preset.engine)):
            return None
    return TellingStrings(leaves, representatives(preset))


class TellingStrings:
    """The telling strings of some patterns."""

    def __init__(self, leaves: _Leaves, letters: str) -> None:
        self._leaves = leaves
        self._letters = letters
        self._kinds: dict[frozenset[int], dict[frozenset[int], str]] = {}

    def up_to(self, longest: int) -> Iterator[str]:
        """Yield the strings of 1 to `longest` letters."""
        undecided = [("", self._leaves.first)]
        for _ in range(longest):
            undecided = [
                (text + letter, self._leaves.after(matched))
                for text, state in undecided
                for matched, letter in self._kinds_of(state).items()
            ]
            yield from (text for text, _ in undecided)
            undecided = [(text, state) for text, state in undecided if state]

    def like(self, text: str) -> str:
        """Return the string whose first match is that of `text`, a string of the letters."""
        result = ""
        state = self._leaves.first
        for letter in text:
            if not state:
                break
            matched = self._leaves.matching(state, letter)
            result += self._kinds_of(state)[matched]
            state = self._leaves.after(matched)
        return result

    def _kinds_of(self, state: frozenset[int]) -> dict[frozenset[int], str]:
        """Return a letter of each kind, by the leaves of `state` that it matches."""
        kinds = self._kinds.get(state)
        if kinds is None:
            kinds = self._kinds[state] = {}
            for letter in self._letters:
                kinds.setdefault(self._leaves.matching(state, letter), letter)
        return kinds


class _Part(NamedTuple):
    """The leaves that can be the first and the last one of a part of a pattern."""

    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    is_optional: bool = True
    """True if the part can match without a leaf."""


class _Leaves:
    """The leaves of several patterns, and which leaf can follow which (Glushkov's automaton)."""

    def __init__(self) -> None:
        self._sets: list[Chars] = []
        self._next: list[set[int]] = []
        self._first: set[int] = set()
        self._is_known = True

    def add(self, pattern: Alternatives) -> bool:
        """Add the leaves of `pattern`; return False if it has a part whose leaves are unknown."""
        self._first |= self._of_alternatives(pattern).first
        return self._is_known

    def matching(self, state: frozenset[int], letter: str) -> frozenset[int]:
        """Return the leaves of `state` that match `letter`."""
        return frozenset(leaf for leaf in state if _has(self._sets[leaf], letter))

    def after(self, matched: frozenset[int]) -> frozenset[int]:
        """Return the leaves that may be tried after all of `matched` have matched."""
        return frozenset().union(*(self._next[leaf] for leaf in matched))

    @property
    def first(self) -> frozenset[int]:
        """The leaves that may be tried at the start of a match."""
        return frozenset(self._first)

    def _of_alternatives(self, alternatives: Alternatives) -> _Part:
        parts = list(map(self._of_sequence, alternatives))
        return _Part(
            frozenset().union(*(part.first for part in parts)),
            frozenset().union(*(part.last for part in parts)),
            any(part.is_optional for part in parts),
        )

    def _of_sequence(self, sequence: Sequence) -> _Part:
        whole = _Part()
        for part in map(self._of_node, sequence):
            self._follow(whole.last, part.first)
            whole = _Part(
                whole.first | part.first if whole.is_optional else whole.first,
                whole.last | part.last if part.is_optional else part.last,
                whole.is_optional and part.is_optional,
            )
        return whole

    def _of_node(self, node: Node) -> _Part:
        if isinstance(node, Repeat):
            part = self._of_node(node.node)
            self._follow(part.last, part.first)
            return part._replace(is_optional=part.is_optional or node.low == 0)
        if isinstance(node, Group):
            return self._of_alternatives(node.alternatives)
        if isinstance(node, Lookahead):
            # The text after the assertion is tried whether or not it matched some leaves.
            return self._of_alternatives(node.alternatives)._replace(is_optional=True)
        if isinstance(node, EndAnchor):
            return self._leaf(Chars(code_points("\n")))._replace(is_optional=True)
        if isinstance(node, Chars):
            return self._leaf(node)
        if not (isinstance(node, EngineSpecific) and node.text == r"\z"):
            self._is_known = False
        return _Part()

    def _leaf(self, chars: Chars) -> _Part:
        self._sets.append(chars)
        self._next.append(set())
        only = frozenset((len(self._sets) - 1,))
        return _Part(only, only, is_optional=False)

    def _follow(self, last: frozenset[int], first: frozenset[int]) -> None:
        for leaf in last:
            self._next[leaf] |= first


@cache
def _has(leaf: Chars, letter: str) -> bool:
    starts, atoms = table(DEFAULT_VERSION)
    atom = int(atoms[int(np.searchsorted(starts, ord(letter), "right")) - 1])
    is_member = bool(leaf.chars.mask_at(ord(letter)) >> atom & 1)
    is_member |= any(regex.match(rf"\p{{{name}}}", letter) for name in leaf.properties)
    return is_member is not leaf.negated
