"""Leftmost-longest search for many byte strings at once.

cpp/core/encode/token_matcher.hpp is the C++ version, with the same results.

TokenMatcher keeps the patterns in a trie with failure links. The bytes of a node are the bytes on
the path from the root to the node. A search at a node has read these bytes and has not reported a
match in them. If the next byte continues no pattern, the search reports the leftmost-longest
matches within these bytes, and follows the link of the node. The link leads to the longest node
whose bytes are the last bytes of the current node and begin after the matches. If no such node
exists, the link leads to the root.

The matches and the link depend only on the node, so the constructor computes them for each node.
For the patterns "ab", "abcd" and "ce", the node "abc" has the match "ab" and a link to the node
"c". A link leads to a node of smaller depth. Each byte that a search reads increases the depth by
one. So a search follows at most as many links in total as it reads bytes. (Song et al., Fast
WordPiece Tokenization, 2021, calls the matches "failure pops" and the links "failure links".)
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

_ROOT = 0
_NONE = 0xFFFFFFFF


class TokenMatcher:
    """Leftmost-longest search for patterns.

    Building takes linear time and about 20 bytes for each byte of the patterns. The time of
    a search is linear in the number of bytes searched, whatever the patterns are.
    """

    def __init__(self, patterns: Sequence[bytes]) -> None:
        """Build the trie of `patterns`, which are distinct, not empty, and sorted."""
        self._sizes = [len(pattern) for pattern in patterns]
        # The arrays are indexed by node. Nodes are numbered in order of depth, and the children of
        # a node in order of their bytes.
        self._bytes = bytearray(1)  # the last byte of each node
        self._first_child = array("I")
        self._depth = array("I", [0])
        self._link = array("I", [_ROOT])
        self._last_match = array("I", [_NONE])
        # The matches within the nodes: (pattern, its offset in the node, previous match or _NONE).
        self._matches: list[tuple[int, int, int]] = []
        self._build(patterns)
        firsts = {pattern[0] for pattern in patterns}
        # A table for bytes.translate. It maps a byte to 1 if a pattern begins with it, else to 0.
        self._is_first = bytes(byte in firsts for byte in range(256))

    def matches(self, data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield (index of the pattern, start, end) of each match in data[start:end], in order.

        Matches do not overlap. Both offsets count from the start of `data`; the end is exclusive.
        """
        starts = data[start:end].translate(self._is_first)
        node = _ROOT
        at = start
        while at < end:
            if node == _ROOT:
                at = starts.find(1, at - start) + start
                if at < start:
                    return
            below = self._child(node, data[at])  # the next node
            if below != _ROOT:
                node = below
                at += 1
            else:
                yield from self._matches_before(node, at)
                node = self._link[node]
        while node != _ROOT:
            yield from self._matches_before(node, end)
            node = self._link[node]

    def _child(self, node: int, byte: int) -> int:
        """Return the child for `byte`, or _ROOT if there is none."""
        child = self._bytes.find(byte, self._first_child[node], self._first_child[node + 1])
        return max(child, _ROOT)

    def _matches_before(self, node: int, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield the matches within `node`, whose bytes end at `at`."""
        start = at - self._depth[node]
        for pattern, offset in self._within(node):
            yield pattern, start + offset, start + offset + self._sizes[pattern]

    def _within(self, node: int) -> list[tuple[int, int]]:
        """Return (pattern, offset) of each match within `node`."""
        matches = []
        match = self._last_match[node]
        while match != _NONE:
            pattern, offset, match = self._matches[match]
            matches.append((pattern, offset))
        return matches[::-1]

    def _build(self, patterns: Sequence[bytes]) -> None:
        """Add all nodes in order of depth."""
        # For each node of depth `depth`: the half-open range of the indexes of the patterns that
        # begin with its bytes and are longer.
        level = [(0, len(patterns))]
        node = _ROOT
        depth = 0
        while level:
            below = []  # the next level
            for low, high in level:
                self._first_child.append(len(self._bytes))
                while low < high:
                    first = low
                    byte = patterns[first][depth]
                    while low < high and patterns[low][depth] == byte:
                        low += 1
                    # Only the first pattern of the group, the shortest one, can end at this node.
                    ends = len(patterns[first]) == depth + 1
                    self._add_child(node, byte, first if ends else None)
                    below.append((first + ends, low))
                node += 1
            level = below
            depth += 1
        self._first_child.append(len(self._bytes))  # sentinel: the end of the last children

    def _add_child(self, parent: int, byte: int, pattern: int | None) -> None:
        """Add the child of `parent` for `byte`, at which `pattern` ends if it is not None."""
        link, match = _ROOT, _NONE
        if pattern is not None:
            match = self._add_match(pattern, 0, _NONE)
        elif parent != _ROOT:
            link, match = self._linked(parent, byte)
        self._bytes.append(byte)
        self._depth.append(self._depth[parent] + 1)
        self._link.append(link)
        self._last_match.append(match)

    def _linked(self, parent: int, byte: int) -> tuple[int, int]:
        """Return the link and the last match of the child of `parent` for `byte`.

        Follows links from `parent`, as a search would, until a node has a child for `byte`.
        """
        match = self._last_match[parent]
        node = parent
        while True:
            node = self._link[node]
            child = self._child(node, byte)
            if child != _ROOT:
                return child, match
            if node == _ROOT:
                return _ROOT, match
            start = self._depth[parent] - self._depth[node]
            for pattern, offset in self._within(node):
                match = self._add_match(pattern, start + offset, match)

    def _add_match(self, pattern: int, offset: int, previous: int) -> int:
        """Add a match to `_matches`, and return its index there."""
        self._matches.append((pattern, offset, previous))
        return len(self._matches) - 1
