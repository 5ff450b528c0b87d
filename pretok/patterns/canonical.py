r"""Reduce the alternatives of a pattern to a canonical form, to recognize equivalent spellings.

Each rewrite is a law of matching: the old and the new form match the same text at every position.
Two patterns count as different unless the laws reduce both to equal forms.
tests/pretok/patterns/test_canonical.py checks the laws against the engines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple, TypeGuard

from pretok.charsets.sets import WHITE_SPACE, CharSet, code_points
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
from pretok.patterns.char_sets import members
from pretok.patterns.first_sets import first_set, is_possessive, may_be_empty, single_set
from pretok.patterns.parser import MAX_PATTERN_LENGTH, alternatives_of, read_by_each
from pretok.preset import ENGINES, Engine

MAX_LITERALS, MAX_CACHED_LITERALS = 256, 64
"""Maximum number of texts that one sequence can match, and of texts in a cached LiteralSet."""
MAX_LOOKAHEAD = 16
"""Maximum number of optional nodes that `_drop_possessives` examines after a possessive node."""
SHORT, SHORT_PART = 512, 160
"""Maximum length of a pattern for `_form_of_short`, and of an alternative for `_cached_part`."""
_SPACE = Chars(WHITE_SPACE)
_SPACES = Repeat(_SPACE, 1, None)
_WHOLE_RUNS = tuple(Repeat(_SPACE, low, None, "possessive") for low in (0, 1))
r"""`\s*+` and `\s++`: no line break can follow, so `$` after these nodes is the end of the text."""
_ALL_BUT_LAST = (_SPACES, Lookahead(((Chars(~WHITE_SPACE),),), negative=True))


def canonical(pattern: str, engine: Engine) -> Alternatives | None:
    """Return the canonical form of `pattern`; None if the parser rejects `pattern`.

    Takes time O(n log n) for n code points.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return None
    return (_form_of_short if len(pattern) <= SHORT else _form_of_long)(pattern, engine)


class Part(NamedTuple):
    """An alternative of a pattern.

    `text` is the text of the alternative. `sequences` is the canonical form before adjacent
    LiteralSets are joined; None if the parser rejects `text`. `form` is the canonical form of the
    alternative alone. The function `joined` returns the canonical form of several parts.
    """

    text: str
    sequences: Alternatives | None
    form: Alternatives


def parts_of(pattern: str, engine: Engine) -> list[Part]:
    """Return the alternatives of `pattern`, which has at most MAX_PATTERN_LENGTH code points."""
    return [part[engine] for part in _parts_by_engine(pattern)]


def joined(parts: Iterable[Part]) -> Alternatives | None:
    """Return the canonical form of all `parts` together; None if the parser rejected a part."""
    sequences: list[Sequence] = []
    for part in parts:
        if part.sequences is None:
            return None
        sequences += part.sequences
    return _join_literals(sequences, last=True)


def _form(pattern: str, engine: Engine) -> Alternatives | None:
    return joined(parts_of(pattern, engine))


# Cache the forms: recognizing a pattern, or explaining why it is unknown, uses its form repeatedly.
_form_of_short = lru_cache(maxsize=64)(_form)
_form_of_long = lru_cache(maxsize=2)(_form)


@lru_cache(maxsize=2)
def _parts_by_engine(pattern: str) -> list[dict[Engine, Part]]:
    """Return each alternative of `pattern`, parsed for each engine."""
    return [
        (_cached_part if len(text) <= SHORT_PART else _part)(text)
        for text in alternatives_of(pattern)
    ]


def _part(text: str) -> dict[Engine, Part]:
    """Return the alternative `text`, parsed for each engine."""
    parts: dict[Engine, Part] = {}
    by_engine = read_by_each(text)
    for engine, alternatives in by_engine.items():
        # `read_by_each` returns the same object for engines that read `text` alike.
        if engine != ENGINES[0] and alternatives is by_engine[ENGINES[0]]:
            parts[engine] = parts[ENGINES[0]]
        elif alternatives is None:
            parts[engine] = Part(text, None, ())
        else:
            sequences = _Canonicalizer().sequences(alternatives, last=True)
            parts[engine] = Part(text, tuple(sequences), _join_literals(sequences, last=True))
    return parts


_cached_part = lru_cache(maxsize=384)(_part)


def _join_literals(sequences: list[Sequence], last: bool) -> Alternatives:
    """Return `sequences` with adjacent LiteralSets joined, and `\\s` after `\\s+(?!\\S)` as `\\s+`.

    `last` is true if nothing follows the alternatives in the pattern.
    """
    if _ALL_BUT_LAST in sequences:
        # If \s+(?!\S) failed, only one white-space code point remains, so \s and \s+ match alike.
        at = sequences.index(_ALL_BUT_LAST)
        sequences[at:] = [
            (_SPACES,) if sequence == (_SPACE,) else sequence for sequence in sequences[at:]
        ]
    merged: list[Sequence] = []
    texts: list[str] = []
    for sequence in (*sequences, ()):
        if len(sequence) == 1 and isinstance(sequence[0], LiteralSet):
            words = sequence[0].texts
            texts += sorted(words) if isinstance(words, frozenset) else words
            continue
        if texts:
            join = _cached_literal_set if len(texts) <= MAX_CACHED_LITERALS else _literal_set
            merged.append((join(tuple(texts), last),))
            texts = []
        if sequence:
            merged.append(sequence)
    return tuple(merged)


def _literal_set(texts: tuple[str, ...], last: bool) -> LiteralSet:
    """Return the node for an alternation of `texts`; `last` is as in `_join_literals`."""
    positions: dict[str, int] = {}
    for text in texts:
        positions.setdefault(text, len(positions))
    unreachable: set[str] = set()
    is_prefix_free = True
    # Sorting puts each text after its prefixes. The items of this stack are (prefix of the current
    # text, smallest position of this prefix and of all shorter prefixes).
    prefixes: list[tuple[str, int]] = []
    for text in sorted(positions):
        while prefixes and not text.startswith(prefixes[-1][0]):
            prefixes.pop()
        position = smallest = positions[text]
        if prefixes:
            smallest = min(position, prefixes[-1][1])
            # At the end of a pattern, a prefix with a smaller position always matches first, so
            # `text` never matches.
            if last and smallest < position:
                unreachable.add(text)
                continue
            is_prefix_free = False
        prefixes.append((text, smallest))
    # If no text is a prefix of another, at most one text occurs at a position, so their order does
    # not matter.
    if is_prefix_free:
        return LiteralSet(frozenset(positions) - unreachable)
    return LiteralSet(tuple(text for text in positions if text not in unreachable))


_cached_literal_set = lru_cache(maxsize=64)(_literal_set)


class _Canonicalizer:
    """Canonicalizes the nodes of one alternative.

    The words of a sequence are the texts that the sequence can match.
    """

    def __init__(self) -> None:
        self._words: dict[int, tuple[str, ...] | None] = {}

    def alternatives(self, alternatives: Alternatives, last: bool) -> Alternatives:
        """Return the canonical form of `alternatives`; `last` is as in `_join_literals`."""
        return _join_literals(self.sequences(alternatives, last), last)

    def sequences(self, alternatives: Alternatives, last: bool) -> list[Sequence]:
        """Return the canonical form of `alternatives`, without joining adjacent LiteralSets."""
        sequences: list[Sequence] = []
        for sequence in alternatives:
            words = self._words_of(sequence)
            if words is not None:
                sequences.append((LiteralSet(words),))
            elif len(sequence) == 1 and isinstance(sequence[0], Group):  # (?:a|b) alone is a|b
                sequences += self.sequences(sequence[0].alternatives, last)
            else:
                sequences.append(self._sequence(sequence, last))
        return sequences

    def _words_of(self, sequence: Sequence) -> tuple[str, ...] | None:
        """Return the texts that `sequence` can match, in order of preference.

        Returns None if there are more than MAX_LITERALS texts.
        """
        # Cache the words, because each enclosing group needs the words of its nested sequences.
        key = id(sequence)
        if key not in self._words:
            self._words[key] = self._product(sequence)
        return self._words[key]

    def _product(self, sequence: Sequence) -> tuple[str, ...] | None:
        """Return the result of `_words_of`, without a look-up of `sequence` in the cache."""
        parts: list[list[str]] = []
        size = 1
        for node in sequence:
            words_of_node: list[str] = []
            if isinstance(node, Chars) and not node.properties:
                words_of_node = list(members(node.chars))
            elif isinstance(node, Group):
                for inner in node.alternatives:
                    words = self._words_of(inner)
                    if words is None or len(words_of_node) > MAX_LITERALS:
                        return None
                    words_of_node += words
            size *= len(words_of_node)
            if not 0 < size <= MAX_LITERALS:
                return None
            parts.append(words_of_node)
        return tuple(map("".join, product(*parts)))

    def _sequence(self, sequence: Sequence, last: bool) -> Sequence:
        nodes: list[Node] = []
        for node in map(self._node, sequence):
            nodes += _unwrapped(node) or [node]
        nodes = _count_repetitions(nodes)
        for at, (node, following) in enumerate(pairwise(nodes)):
            if following == EndAnchor("line") and node in _WHOLE_RUNS:
                nodes[at + 1] = EndAnchor("text")
        if any(map(is_possessive, nodes)):
            _drop_possessives(nodes, last)
        if last and len(nodes) > 1:
            nodes[-1] = _drop_final_repeat(nodes[-2], nodes[-1])
        return tuple(nodes)

    def _node(self, node: Node) -> Node:
        if isinstance(node, Group):
            return Group(self.alternatives(node.alternatives, last=False))
        if isinstance(node, Lookahead):
            return Lookahead(self.alternatives(node.alternatives, last=True), node.negative)
        if not isinstance(node, Repeat):
            return node
        repeated = self._node(node.node)
        inside = _unwrapped(repeated)
        if len(inside) == 1:
            repeated = inside[0]
        if node.low == node.high and isinstance(repeated, Chars):
            return repeated if node.low == 1 else Repeat(repeated, node.low, node.low)
        if node.low == node.high == 1 and node.mode == "greedy":
            return repeated
        if _is_counted_run(repeated) and (node.low, node.high, node.mode) == (1, None, "greedy"):
            return replace(node, node=repeated.node)
        return replace(node, node=repeated)


def _unwrapped(node: Node) -> list[Node]:
    """Return the nodes of a group with a single alternative; [] for every other node.

    If the alternative is a LiteralSet of single characters, return one Chars node for them.
    """
    if not isinstance(node, Group) or len(node.alternatives) != 1:
        return []
    inside = list(node.alternatives[0])
    if isinstance(inside[0], LiteralSet) and all(len(text) == 1 for text in inside[0].texts):
        return [Chars(code_points(*inside[0].texts))]
    return inside


def _is_counted_run(node: Node) -> TypeGuard[Repeat]:
    """Return whether `node` is a greedy `x{1,n}` of one set `x`, so that `(?:node)+` is `x+`."""
    if not isinstance(node, Repeat) or not isinstance(node.node, Chars):
        return False
    return node.low == 1 and node.mode == "greedy"


def _count_repetitions(nodes: list[Node]) -> list[Node]:
    """Return `nodes` with xx written as x{2}."""
    counted: list[Node] = []
    for node in nodes:
        previous = _fixed_count(counted[-1]) if counted else None
        current = _fixed_count(node)
        if previous and current and previous[0] == current[0]:
            times = previous[1] + current[1]
            counted[-1] = Repeat(current[0], times, times)
        else:
            counted.append(node)
    return counted


def _fixed_count(node: Node) -> tuple[Chars, int] | None:
    """Return the set and the count of `x` or `x{n}`; None for every other node."""
    if isinstance(node, Chars):
        return node, 1
    if isinstance(node, Repeat) and isinstance(node.node, Chars) and node.low == node.high:
        return node.node, node.low
    return None


def _drop_possessives(nodes: list[Node], last: bool) -> None:
    """Make each possessive node in `nodes` greedy if this does not change the match.

    A greedy node may give code points back, and the following nodes are then tried again. The match
    does not change if the following nodes fail each time.
    """
    # The first sets of the following nodes, up to and including the next required node; None if a
    # first set is unknown.
    ahead: tuple[CharSet, ...] | None = ()
    is_open = True  # True if no required node follows.
    for at in reversed(range(len(nodes))):
        node = nodes[at]
        if isinstance(node, Repeat) and node.mode == "possessive":
            nodes[at] = _drop_possessive(node, ahead, is_open, last)
        first = first_set(node)
        if isinstance(node, EndAnchor) and node.scope == "text":
            ahead, is_open = (), False
        elif first is None:
            ahead, is_open = None, False
        elif not may_be_empty(node):
            ahead, is_open = (first,), False
        elif not is_open and ahead is not None:
            ahead = (first, *ahead) if len(ahead) < MAX_LOOKAHEAD else None


def _drop_possessive(
    node: Repeat, ahead: tuple[CharSet, ...] | None, is_open: bool, last: bool
) -> Repeat:
    """Return `node` as a greedy node if it then matches the same; else return `node`.

    `ahead` and `is_open` are as in `_drop_possessives`.
    """
    taken = single_set(node)
    if is_open:
        # All following nodes are optional, so they never fail. But text after them may fail to
        # match, unless nothing follows this alternative.
        is_redundant = last
    else:
        # A code point that the node gives back is in `taken`. If no following node can begin with
        # it, they fail each time.
        is_redundant = (
            ahead is not None and taken is not None and not any(taken & first for first in ahead)
        )
    return replace(node, mode="greedy") if is_redundant else node


def _drop_final_repeat(previous: Node, node: Node) -> Node:
    r"""Return `x` if `node` is `x+` and `previous` is a greedy run that includes `x`; else `node`.

    For example, `\s*[\r\n]+` becomes `\s*[\r\n]`. `previous` gives back code points only up to the
    last `x` of its run, so no second `x` follows.
    """
    is_run = isinstance(previous, Repeat) and previous.high is None and previous.mode == "greedy"
    if is_run and isinstance(node, Repeat) and (node.low, node.high) == (1, None):
        all_chars, chars = single_set(previous), single_set(node)
        if all_chars is None or chars is None or node.mode != "greedy":
            return node
        if not chars - all_chars:
            return node.node
    return node
