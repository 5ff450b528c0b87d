r"""One form for the alternatives of a pattern, which those that match the same text have in common.

Every step is a law about what is matched at a place, not a guess about what was meant: where no
law makes two patterns one, they count as different.
tests/pretok/patterns/test_canonical.py asks the engines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple, TypeGuard

from pretok.charsets.sets import NOTHING, WHITE_SPACE, CharSet, code_points, union
from pretok.patterns.ast import (
    Alternatives,
    Chars,
    EndAnchor,
    Group,
    LiteralSet,
    Lookahead,
    Node,
    Repeat,
    Sequence,
)
from pretok.patterns.parser import MAX_PATTERN_LENGTH, alternatives_of, members, read_by_each
from pretok.preset import ENGINES, Engine

MAX_LITERALS, MAX_KEPT_LITERALS = 256, 64
MAX_LOOKAHEAD = 16
"""The number of optional nodes after a possessive one that `_unlock` looks at."""
SHORT, SHORT_PART = 512, 160
"""The lengths of patterns and alternatives up to which more of them are cached."""
_SPACE = Chars(WHITE_SPACE)
_SPACES = Repeat(_SPACE, 1, None)
_WHOLE_RUNS = tuple(Repeat(_SPACE, low, None, "possessive") for low in (0, 1))
"""Behind these there is no line break, so the end of a line there is the end of the text."""
_ALL_BUT_LAST = (_SPACES, Lookahead(((Chars(~WHITE_SPACE),),), negative=True))


def canonical(pattern: str, engine: Engine) -> Alternatives | None:
    """Return the alternatives of `pattern` in one form; None if it cannot be read.

    Take time n log n in the length of the pattern.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return None
    return (_form_of_short if len(pattern) <= SHORT else _form_of_long)(pattern, engine)


class Part(NamedTuple):
    """An alternative of a pattern: its text, its sequences, and their canonical form.

    `sequences` is None for a text that cannot be read; what follows it in a pattern may change the
    form of its LiteralSet.
    """

    text: str
    sequences: Alternatives | None
    form: Alternatives


def parts_of(pattern: str, engine: Engine) -> list[Part]:
    """Return the alternatives of `pattern`, which has MAX_PATTERN_LENGTH code points at most."""
    return [part[engine] for part in _by_each(pattern)]


def joined(parts: Iterable[Part]) -> Alternatives | None:
    """Return the canonical form of the alternatives `parts`; None if one cannot be read."""
    found: list[Sequence] = []
    for part in parts:
        if part.sequences is None:
            return None
        found += part.sequences
    return _joined(found, last=True)


def _form(pattern: str, engine: Engine) -> Alternatives | None:
    return joined(parts_of(pattern, engine))


# Recognising a pattern, and saying how it differs, asks for the same form several times.
_form_of_short = lru_cache(maxsize=64)(_form)
_form_of_long = lru_cache(maxsize=2)(_form)


@lru_cache(maxsize=2)
def _by_each(pattern: str) -> list[dict[Engine, Part]]:
    """Return each alternative of `pattern` as each engine reads it."""
    return [
        (_kept_part if len(text) <= SHORT_PART else _part)(text)
        for text in alternatives_of(pattern)
    ]


def _part(text: str) -> dict[Engine, Part]:
    """Return the alternative `text` as each engine reads it."""
    found: dict[Engine, Part] = {}
    by_each = read_by_each(text)
    for engine, alternatives in by_each.items():
        if engine != ENGINES[0] and alternatives is by_each[ENGINES[0]]:
            found[engine] = found[ENGINES[0]]
        elif alternatives is None:
            found[engine] = Part(text, None, ())
        else:
            sequences = _Former().sequences(alternatives, last=True)
            found[engine] = Part(text, tuple(sequences), _joined(sequences, last=True))
    return found


_kept_part = lru_cache(maxsize=384)(_part)


def matches_everywhere(alternatives: Alternatives) -> bool:
    """Return whether it is sure that at each place of any text one of `alternatives` matches."""
    # Behind an empty match the engines do not go on alike.
    may_be_empty = not all(any(map(_consumes, sequence)) for sequence in alternatives)
    return not may_be_empty and not ~_first_set_guaranteed(alternatives)


def _first_set_guaranteed(alternatives: Alternatives) -> CharSet:
    """Return a set such that where one of it stands, it is sure that `alternatives` match."""
    found: list[CharSet] = []
    for sequence in alternatives:
        needed = [node for node in sequence if not _may_be_empty(node)]
        if len(needed) == 1 and not any(map(_is_possessive, sequence)):
            found.append(_sure_of(needed[0]))
    return union(found)


def _sure_of(node: Node) -> CharSet:
    if isinstance(node, Repeat):
        return _sure_of(node.what) if node.low == 1 else NOTHING
    if isinstance(node, Group):
        return _first_set_guaranteed(node.alternatives)
    return _one(node) or NOTHING


def _joined(found: list[Sequence], last: bool) -> Alternatives:
    """Return `found` with LiteralSet that follow each other made one.

    `last` says that nothing comes after the alternatives in the pattern.
    """
    if _ALL_BUT_LAST in found:
        # Where that has failed there is a single one.
        at = found.index(_ALL_BUT_LAST)
        found[at:] = [(_SPACES,) if one == (_SPACE,) else one for one in found[at:]]
    merged: list[Sequence] = []
    texts: list[str] = []
    for sequence in (*found, ()):
        if len(sequence) == 1 and isinstance(sequence[0], LiteralSet):
            words = sequence[0].texts
            texts += sorted(words) if isinstance(words, frozenset) else words
            continue
        if texts:
            node = _kept_node if len(texts) <= MAX_KEPT_LITERALS else _as_node
            merged.append((node(tuple(texts), last),))
            texts = []
        if sequence:
            merged.append(sequence)
    return tuple(merged)


def _as_node(texts: tuple[str, ...], last: bool) -> LiteralSet:
    """Return the node that matches the first of `texts` that stands there."""
    places: dict[str, int] = {}
    for text in texts:
        places.setdefault(text, len(places))
    unreached: set[str] = set()
    is_free = True
    # Texts that begin with a text follow it when sorted, so its prefixes are on this stack, each
    # with the least place of those up to it.
    prefixes: list[tuple[str, int]] = []
    for text in sorted(places):
        while prefixes and not text.startswith(prefixes[-1][0]):
            prefixes.pop()
        place = least = places[text]
        if prefixes:
            least = min(place, prefixes[-1][1])
            # With nothing behind, one that begins with an earlier one is never reached.
            if last and least < place:
                unreached.add(text)
                continue
            is_free = False
        prefixes.append((text, least))
    if is_free:
        return LiteralSet(frozenset(places) - unreached)
    return LiteralSet(tuple(text for text in places if text not in unreached))


_kept_node = lru_cache(maxsize=64)(_as_node)


class _Former:
    """Puts the nodes of one alternative into one form; remembers the words of its sequences."""

    def __init__(self) -> None:
        self._words: dict[int, tuple[str, ...] | None] = {}

    def alternatives(self, given: Alternatives, last: bool) -> Alternatives:
        """Return the one form of `given`; `last` if nothing comes behind it in the pattern."""
        return _joined(self.sequences(given, last), last)

    def sequences(self, given: Alternatives, last: bool) -> list[Sequence]:
        """Return `given` in one form, but for LiteralSet that follow each other."""
        found: list[Sequence] = []
        for sequence in given:
            words = self._words_of(sequence)
            if words is not None:
                found.append((LiteralSet(words),))
            elif len(sequence) == 1 and isinstance(sequence[0], Group):  # (?:a|b) alone is a|b
                found += self.sequences(sequence[0].alternatives, last)
            else:
                found.append(self._sequence(sequence, last))
        return found

    def _words_of(self, sequence: Sequence) -> tuple[str, ...] | None:
        """Return the texts that `sequence` can match, in order, if they are few and known."""
        # A sequence in groups is asked about once for each of them.
        key = id(sequence)
        if key not in self._words:
            self._words[key] = self._product(sequence)
        return self._words[key]

    def _product(self, sequence: Sequence) -> tuple[str, ...] | None:
        parts: list[list[str]] = []
        size = 1
        for node in sequence:
            found: list[str] = []
            if isinstance(node, Chars) and not node.names:
                found = list(members(node.known))
            elif isinstance(node, Group):
                for inner in node.alternatives:
                    words = self._words_of(inner)
                    if words is None or len(found) > MAX_LITERALS:
                        return None
                    found += words
            size *= len(found)
            if not 0 < size <= MAX_LITERALS:
                return None
            parts.append(found)
        return tuple(map("".join, product(*parts)))

    def _sequence(self, given: Sequence, last: bool) -> Sequence:
        nodes: list[Node] = []
        for node in map(self._node, given):
            nodes += _single(node) or [node]
        nodes = _counted_together(nodes)
        for at, (node, behind) in enumerate(pairwise(nodes)):
            if isinstance(behind, EndAnchor) and behind.of == "line" and node in _WHOLE_RUNS:
                nodes[at + 1] = EndAnchor("text")
        if any(map(_is_possessive, nodes)):
            _unlock(nodes, last)
        if last and len(nodes) > 1:
            nodes[-1] = _through_last(nodes[-2], nodes[-1])
        return tuple(nodes)

    def _node(self, node: Node) -> Node:
        if isinstance(node, Group):
            return Group(self.alternatives(node.alternatives, last=False))
        if isinstance(node, Lookahead):
            return Lookahead(self.alternatives(node.alternatives, last=True), node.negative)
        if not isinstance(node, Repeat):
            return node
        what = self._node(node.what)
        inside = _single(what)
        if len(inside) == 1:
            what = inside[0]
        if node.low == node.high and isinstance(what, Chars):
            return what if node.low == 1 else Repeat(what, node.low, node.low)
        if node.low == node.high == 1 and node.mode == "greedy":
            return what
        if _is_counted_run(what) and (node.low, node.high, node.mode) == (1, None, "greedy"):
            return replace(node, what=what.what)
        return replace(node, what=what)


def _single(node: Node) -> list[Node]:
    """Return what is in a group with one alternative."""
    if not isinstance(node, Group) or len(node.alternatives) != 1:
        return []
    inside = list(node.alternatives[0])
    if isinstance(inside[0], LiteralSet) and all(len(text) == 1 for text in inside[0].texts):
        return [Chars(code_points(*inside[0].texts))]
    return inside


def _is_counted_run(node: Node) -> TypeGuard[Repeat]:
    """Return whether any number of `node`, the most first, is any number of what it repeats."""
    if not isinstance(node, Repeat) or not isinstance(node.what, Chars):
        return False
    return node.low == 1 and node.mode == "greedy"


def _counted_together(nodes: list[Node]) -> list[Node]:
    """Return `nodes` with xx written as x{2}."""
    found: list[Node] = []
    for node in nodes:
        before = _exactly(found[-1]) if found else None
        now = _exactly(node)
        if before and now and before[0] == now[0]:
            times = before[1] + now[1]
            found[-1] = Repeat(now[0], times, times)
        else:
            found.append(node)
    return found


def _exactly(node: Node) -> tuple[Chars, int] | None:
    if isinstance(node, Chars):
        return node, 1
    if isinstance(node, Repeat) and isinstance(node.what, Chars) and node.low == node.high:
        return node.what, node.low
    return None


def _unlock(nodes: list[Node], last: bool) -> None:
    """Take the possessive mark from `nodes` where giving back could never help."""
    # The sets that the nodes up to the next needed one begin with; None if one is not known.
    ahead: tuple[CharSet, ...] | None = ()
    is_open = True  # No needed node follows.
    for at in reversed(range(len(nodes))):
        node = nodes[at]
        if isinstance(node, Repeat) and node.mode == "possessive":
            nodes[at] = _drop_possessive(node, ahead, is_open, last)
        first = _first(node)
        if isinstance(node, EndAnchor) and node.of == "text":
            ahead, is_open = (), False
        elif first is None:
            ahead, is_open = None, False
        elif not _may_be_empty(node):
            ahead, is_open = (first,), False
        elif not is_open and ahead is not None:
            ahead = (first, *ahead) if len(ahead) < MAX_LOOKAHEAD else None


def _drop_possessive(
    node: Repeat, ahead: tuple[CharSet, ...] | None, is_open: bool, last: bool
) -> Repeat:
    taken = _one(node)
    if is_open:
        # What is behind matches whatever is there.
        is_needless = last
    else:
        is_needless = (
            ahead is not None and taken is not None and not any(taken & first for first in ahead)
        )
    return replace(node, mode="greedy") if is_needless else node


def _is_possessive(node: Node) -> bool:
    return isinstance(node, Repeat) and node.mode == "possessive"


def _through_last(before: Node, node: Node) -> Node:
    r"""Return `node` once where `before` took all that is like it: `\s*[\r\n]+` as `\s*[\r\n]`."""
    is_run = isinstance(before, Repeat) and before.high is None and before.mode == "greedy"
    if is_run and isinstance(node, Repeat) and (node.low, node.high) == (1, None):
        every, some = _one(before), _one(node)
        if every is not None and some is not None and node.mode == "greedy" and not some - every:
            return node.what
    return node


def _one(node: Node) -> CharSet | None:
    """Return the set whose members `node` takes one of, or any number of."""
    if isinstance(node, Repeat) and node.low <= 1:
        node = node.what
    if isinstance(node, LiteralSet) and all(len(text) == 1 for text in node.texts):
        return _first(node)
    return node.charset if isinstance(node, Chars) else None


def _first(node: Node) -> CharSet | None:
    """Return the set that what `node` matches begins with; None if that is not known."""
    if isinstance(node, Chars):
        return node.charset
    if isinstance(node, Repeat):
        return _first(node.what)
    if isinstance(node, LiteralSet):
        return code_points(*{text[0] for text in node.texts})
    return None


def _consumes(node: Node) -> bool:
    """Return whether it is sure that `node` takes something."""
    if isinstance(node, Repeat):
        return node.low > 0 and _consumes(node.what)
    if isinstance(node, Group):
        return all(any(map(_consumes, sequence)) for sequence in node.alternatives)
    return isinstance(node, (Chars, LiteralSet))


def _may_be_empty(node: Node) -> bool:
    return isinstance(node, Repeat) and node.low == 0
