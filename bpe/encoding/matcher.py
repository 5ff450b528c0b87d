"""Leftmost-longest search for many byte strings at once.

cpp/core/encode/token_matcher.hpp is the twin.

TokenMatcher keeps the patterns in a trie. The link of a node says how to go on when the next byte
continues no pattern. A search that is at a node has read the bytes of that node and found no match
in them yet, and only now knows what the leftmost-longest matches within them are. They depend on
the node alone, so they are found once, when the trie is built. The link is the node of the bytes
that remain after them. It is less deep, so that a search follows a link at most once for each byte.
(Song et al., Fast WordPiece Tokenization, 2021, calls the two "failure pops" and "failure links".)
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

_ROOT = 0
_NONE = 0xFFFFFFFF


class TokenMatcher:
    """Finds the leftmost of some patterns, and of those that start there the longest.

    Building takes linear time and about 20 bytes for each byte of the patterns; a search takes
    linear time, whatever the patterns are.
    """

    def __init__(self, patterns: Sequence[bytes]) -> None:
        """Build the trie of `patterns`: distinct, not empty, and sorted."""
        self._sizes = [len(pattern) for pattern in patterns]
        # By node, in the order of their depth; the children of a node in that of their bytes.
        self._bytes = bytearray(1)  # by which each node is reached from its parent
        self._first_child = array("I")
        self._depth = array("I", [0])
        self._link = array("I", [_ROOT])
        self._last_match = array("I", [_NONE])
        # The matches within the nodes: (pattern, its offset in the node, the match before).
        self._matches: list[tuple[int, int, int]] = []
        self._build(patterns)
        firsts = {pattern[0] for pattern in patterns}
        # Turns a text into one in which byte 1 stands wherever a pattern may begin.
        self._is_first = bytes(byte in firsts for byte in range(256))

    def matches(self, data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield (pattern, first, last) of each match; they do not overlap."""
        starts = data[start:end].translate(self._is_first)
        node = _ROOT
        at = start
        while at < end:
            if node == _ROOT:
                at = starts.find(1, at - start) + start
                if at < start:
                    return
            below = self._child(node, data[at])
            if below != _ROOT:
                node = below
                at += 1
            else:
                yield from self._found(node, at)
                node = self._link[node]
        while node != _ROOT:
            yield from self._found(node, end)
            node = self._link[node]

    def _child(self, node: int, byte: int) -> int:
        """Return the child by `byte`, or _ROOT, which is no child."""
        child = self._bytes.find(byte, self._first_child[node], self._first_child[node + 1])
        return max(child, _ROOT)

    def _found(self, node: int, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield the matches within `node`, whose bytes end at `at`."""
        start = at - self._depth[node]
        for pattern, offset in self._within(node):
            yield pattern, start + offset, start + offset + self._sizes[pattern]

    def _within(self, node: int) -> list[tuple[int, int]]:
        """Return (pattern, offset) of each match within `node`."""
        found = []
        match = self._last_match[node]
        while match != _NONE:
            pattern, offset, match = self._matches[match]
            found.append((pattern, offset))
        return found[::-1]

    def _build(self, patterns: Sequence[bytes]) -> None:
        """Add all nodes, in the order of their depth."""
        level = [(0, len(patterns))]  # of each node, the patterns that begin with its bytes
        node = _ROOT
        depth = 0
        while level:
            below = []
            for low, high in level:
                self._first_child.append(len(self._bytes))
                while low < high:
                    first = low
                    byte = patterns[first][depth]
                    while low < high and patterns[low][depth] == byte:
                        low += 1
                    # Only the shortest can end here, and it is the first.
                    ends = len(patterns[first]) == depth + 1
                    self._add_child(node, byte, first if ends else None)
                    below.append((first + ends, low))
                node += 1
            level = below
            depth += 1
        self._first_child.append(len(self._bytes))  # the sentinel: it ends the last children

    def _add_child(self, parent: int, byte: int, pattern: int | None) -> None:
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
        """Return the link and the last match of the child of `parent` by `byte`.

        Goes on with `byte` after what a search does that cannot go on from `parent`.
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
        self._matches.append((pattern, offset, previous))
        return len(self._matches) - 1
