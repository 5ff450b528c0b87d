r"""One form for the alternatives of a pattern, which those that match the same text have in common.

Every step is a law about what is matched at a place, not a guess about what was meant: where no
law makes two patterns one, they count as different. tests/test_canonical.py asks the engines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, product
from typing import TypeGuard

from pretok.classes import NOTHING, WHITE_SPACE, CharSet, code_points
from pretok.nodes import (
    Ahead,
    Alternatives,
    Chars,
    End,
    Group,
    Node,
    Repeat,
    Sequence,
    Words,
)
from pretok.preset import Engine
from pretok.syntax import UnreadablePatternError, members, read

MOST_WORDS = 256
_SPACE = Chars(WHITE_SPACE)
_SPACES = Repeat(_SPACE, 1, None)
_WHOLE_RUNS = tuple(Repeat(_SPACE, low, None, "possessive") for low in (0, 1))
"""Behind these there is no line break, so the end of a line there is the end of the text."""
_ALL_BUT_LAST = (_SPACES, Ahead(((Chars(~WHITE_SPACE),),), negative=True))


@lru_cache(maxsize=1024)
def canonical(pattern: str, engine: Engine) -> Alternatives | None:
    """Return the alternatives of `pattern` in one form; None if it cannot be read."""
    try:
        return _alternatives(read(pattern, engine), last=True)
    except UnreadablePatternError:
        return None


def covers(alternatives: Alternatives) -> bool:
    """Return whether it is sure that at each place of any text one of `alternatives` matches."""
    # Behind an empty match the engines do not go on alike.
    may_be_empty = not all(any(map(_takes, sequence)) for sequence in alternatives)
    return not may_be_empty and not ~_sure(alternatives)


def _sure(alternatives: Alternatives) -> CharSet:
    """Return a set such that where one of it stands, it is sure that `alternatives` match."""
    found = NOTHING
    for sequence in alternatives:
        needed = [node for node in sequence if not _may_be_empty(node)]
        locked = any(isinstance(node, Repeat) and node.mode == "possessive" for node in sequence)
        if len(needed) == 1 and not locked:
            found |= _sure_of(needed[0])
    return found


def _sure_of(node: Node) -> CharSet:
    if isinstance(node, Repeat):
        return _sure_of(node.what) if node.low == 1 else NOTHING
    if isinstance(node, Group):
        return _sure(node.alternatives)
    return _one(node) or NOTHING


def _alternatives(given: Alternatives, last: bool) -> Alternatives:
    """Return the one form of `given`; `last` if nothing comes behind it in the pattern."""
    found: list[Sequence] = []
    for sequence in given:
        words = _words_of(sequence)
        if words is not None:
            found.append((Words(words),))
        elif len(sequence) == 1 and isinstance(sequence[0], Group):  # (?:a|b) alone is a|b
            found += _alternatives(sequence[0].alternatives, last)
        else:
            found.append(_sequence(sequence, last))
    if _ALL_BUT_LAST in found:
        # Where that has failed there is a single one.
        at = found.index(_ALL_BUT_LAST)
        found[at:] = [(_SPACES,) if one == (_SPACE,) else one for one in found[at:]]
    return tuple(_joined(found, last))


def _joined(given: list[Sequence], last: bool) -> Iterable[Sequence]:
    """Yield `given` with lists of words that follow each other made one."""
    texts: list[str] = []
    for sequence in [*given, ()]:
        if len(sequence) == 1 and isinstance(sequence[0], Words):
            texts += sequence[0].texts
            continue
        if texts:
            yield (_as_node(texts, last),)
            texts = []
        if sequence:
            yield sequence


def _as_node(texts: list[str], last: bool) -> Words:
    kept: list[str] = []
    for text in texts:
        # With nothing behind, one that begins with an earlier one is never reached.
        if text not in kept and not (last and text.startswith(tuple(kept))):
            kept.append(text)
    free = not any(a != b and a.startswith(b) for a in kept for b in kept)
    return Words(frozenset(kept) if free else tuple(kept))


def _words_of(sequence: Sequence) -> tuple[str, ...] | None:
    """Return the texts that `sequence` can match, in order, if they are few and known."""
    parts: list[list[str]] = []
    size = 1
    for node in sequence:
        found: list[str] = []
        if isinstance(node, Chars) and not node.names:
            found = list(members(node.known))
        elif isinstance(node, Group):
            for inner in node.alternatives:
                words = _words_of(inner)
                if words is None:
                    return None
                found += words
        size *= len(found)
        if not 0 < size <= MOST_WORDS:
            return None
        parts.append(found)
    return tuple(map("".join, product(*parts)))


def _sequence(given: Sequence, last: bool) -> Sequence:
    nodes: list[Node] = []
    for node in map(_node, given):
        nodes += _single(node) or [node]
    nodes = _counted_together(nodes)
    for at, (node, behind) in enumerate(pairwise(nodes)):
        if behind == End("line") and node in _WHOLE_RUNS:
            nodes[at + 1] = End("text")
    for at in reversed(range(len(nodes))):
        nodes[at] = _unlocked(nodes[at], nodes[at + 1 :], last)
    if last and len(nodes) > 1:
        nodes[-1] = _through_last(nodes[-2], nodes[-1])
    return tuple(nodes)


def _node(node: Node) -> Node:
    if isinstance(node, Group):
        return Group(_alternatives(node.alternatives, last=False))
    if isinstance(node, Ahead):
        return Ahead(_alternatives(node.alternatives, last=True), node.negative)
    if not isinstance(node, Repeat):
        return node
    what = _node(node.what)
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
    if isinstance(inside[0], Words) and all(len(text) == 1 for text in inside[0].texts):
        return [Chars(code_points(*sorted(inside[0].texts)))]
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


def _unlocked(node: Node, behind: list[Node], last: bool) -> Node:
    """Return `node` without the possessive mark where giving back could never help."""
    if not isinstance(node, Repeat) or node.mode != "possessive":
        return node
    taken = _one(node)
    follow = NOTHING
    for other in behind:
        if other == End("text"):
            break
        first = _first(other)
        if first is None:
            return node
        follow |= first
        if not _may_be_empty(other):
            break
    else:
        # What is behind matches whatever is there.
        return replace(node, mode="greedy") if last else node
    if taken is None or taken & follow:
        return node
    return replace(node, mode="greedy")


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
    if isinstance(node, Words) and all(len(text) == 1 for text in node.texts):
        return _first(node)
    return node.charset if isinstance(node, Chars) else None


def _first(node: Node) -> CharSet | None:
    """Return the set that what `node` matches begins with; None if that is not known."""
    if isinstance(node, Chars):
        return node.charset
    if isinstance(node, Repeat):
        return _first(node.what)
    if isinstance(node, Words):
        return code_points(*sorted({text[0] for text in node.texts}))
    return None


def _takes(node: Node) -> bool:
    """Return whether it is sure that `node` takes something."""
    if isinstance(node, Repeat):
        return node.low > 0 and _takes(node.what)
    if isinstance(node, Group):
        return all(any(map(_takes, sequence)) for sequence in node.alternatives)
    return isinstance(node, (Chars, Words))


def _may_be_empty(node: Node) -> bool:
    return isinstance(node, Repeat) and node.low == 0
