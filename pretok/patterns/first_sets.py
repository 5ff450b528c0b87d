"""Compute the code points with which matches begin, and test whether a pattern always matches."""

from __future__ import annotations

from pretok.charsets.sets import NOTHING, CharSet, code_points, union
from pretok.patterns.ast import Alternatives, Chars, Group, LiteralSet, Node, Repeat


def matches_everywhere(alternatives: Alternatives) -> bool:
    """Return True only if some alternative matches at every position of every text.

    The result may be False although the alternatives match everywhere.
    """
    # No alternative may match the empty text: engines advance differently after an empty match.
    consumes = all(any(map(_consumes, sequence)) for sequence in alternatives)
    return consumes and not ~_guaranteed_first_set(alternatives)


def _guaranteed_first_set(alternatives: Alternatives) -> CharSet:
    """Return a set at whose members `alternatives` match, whatever text follows."""
    sets: list[CharSet] = []
    for sequence in alternatives:
        # Optional nodes can give back all that they took, unless they are possessive. So the only
        # required node can match at the start of the sequence.
        needed = [node for node in sequence if not may_be_empty(node)]
        if len(needed) == 1 and not any(map(is_possessive, sequence)):
            sets.append(_guaranteed_first_set_of_node(needed[0]))
    return union(sets)


def _guaranteed_first_set_of_node(node: Node) -> CharSet:
    """Return a set at whose members `node` matches, whatever text follows."""
    if isinstance(node, Repeat):
        return _guaranteed_first_set_of_node(node.node) if node.low == 1 else NOTHING
    if isinstance(node, Group):
        return _guaranteed_first_set(node.alternatives)
    return single_set(node) or NOTHING


def single_set(node: Node) -> CharSet | None:
    """Return S if `node` is a set S, or a repetition of S with minimum 0 or 1; else None."""
    if isinstance(node, Repeat) and node.low <= 1:
        node = node.node
    if isinstance(node, LiteralSet) and all(len(text) == 1 for text in node.texts):
        return first_set(node)
    return node.charset if isinstance(node, Chars) else None


def first_set(node: Node) -> CharSet | None:
    """Return the set of the code points with which a match of `node` can begin; None if unknown."""
    if isinstance(node, Chars):
        return node.charset
    if isinstance(node, Repeat):
        return first_set(node.node)
    if isinstance(node, LiteralSet):
        return code_points(*{text[0] for text in node.texts})
    return None


def _consumes(node: Node) -> bool:
    """Return True only if `node` cannot match the empty text; False if unknown."""
    if isinstance(node, Repeat):
        return node.low > 0 and _consumes(node.node)
    if isinstance(node, Group):
        return all(any(map(_consumes, sequence)) for sequence in node.alternatives)
    return isinstance(node, (Chars, LiteralSet))


def may_be_empty(node: Node) -> bool:
    """Return whether `node` is optional: `x?`, `x*` or `x{0,n}`."""
    return isinstance(node, Repeat) and node.low == 0


def is_possessive(node: Node) -> bool:
    """Return whether `node` is a possessive quantifier, such as `x++`."""
    return isinstance(node, Repeat) and node.mode == "possessive"
