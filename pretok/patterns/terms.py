"""Find the span of each term in the text of a pattern, for error messages."""

from __future__ import annotations

from typing import NamedTuple

from pretok.patterns.ast import Alternatives, EngineSpecific, Group, Lookahead, Node, Repeat

_OPENINGS = ("(?:", "(?i:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(")


class Term(NamedTuple):
    """A node of a pattern and the span of the node in the text of the pattern.

    If the node is a group or a look-ahead, `inner` has the terms of each alternative.
    """

    node: Node
    start: int
    end: int
    inner: tuple[tuple[Term, ...], ...] = ()


def terms_of(pattern: str, alternatives: Alternatives) -> tuple[tuple[Term, ...], ...]:
    r"""Return the terms of each alternative of `pattern`.

    `alternatives` must be the result of `parser.read` for `pattern`.

    >>> from pretok.patterns.parser import read
    >>> for sequence in terms_of("a|[b|]+(?:c)", read("a|[b|]+(?:c)", "hf")):
    ...     print([(term.start, term.end) for term in sequence])
    [(0, 1)]
    [(2, 7), (7, 12)]
    """
    return _Scanner(pattern).alternatives(alternatives)


class _Scanner:
    """Scans the text of a pattern again, guided by the nodes that the parser returned."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def alternatives(self, alternatives: Alternatives) -> tuple[tuple[Term, ...], ...]:
        terms = []
        for sequence in alternatives:
            terms.append(tuple(map(self._term, sequence)))
            self._at += 1  # "|" or ")"
        return tuple(terms)

    def _term(self, node: Node) -> Term:
        start = self._at
        inner: tuple[tuple[Term, ...], ...] = ()
        unrepeated = node  # without its quantifiers
        while isinstance(unrepeated, Repeat):
            unrepeated = unrepeated.node
        if isinstance(unrepeated, (Group, Lookahead)):
            self._at += self._opening()
            inner = self.alternatives(unrepeated.alternatives)
        elif isinstance(unrepeated, EngineSpecific):
            self._at += len(unrepeated.text)
        else:
            self._skip_one()
        self._skip_quantifier()
        return Term(node, start, self._at, inner)

    def _opening(self) -> int:
        """Return the length of the opening of a group, such as "(?:", at the current position."""
        return len(next(each for each in _OPENINGS if self._text.startswith(each, self._at)))

    def _skip_one(self) -> None:
        """Skip a character, an escape or a class."""
        depth = 0
        while True:
            char = self._text[self._at]
            if char == "\\":
                self._skip_escape()
            else:
                self._at += 1
                depth += (char == "[") - (char == "]" and depth > 0)
            if not depth:
                return

    def _skip_escape(self) -> None:
        kind, following = self._text[self._at + 1], self._text[self._at + 2 : self._at + 3]
        if kind in "pPx" and following == "{":
            self._at = self._text.index("}", self._at) + 1
        else:
            self._at += {"x": 4, "u": 6}.get(kind, 2)

    def _skip_quantifier(self) -> None:
        char = self._text[self._at : self._at + 1]
        if char == "{":
            self._at = self._text.index("}", self._at) + 1
        elif char and char in "?*+":
            self._at += 1
        else:
            return
        mark = self._text[self._at : self._at + 1]
        self._at += bool(mark) and mark in "?+"
