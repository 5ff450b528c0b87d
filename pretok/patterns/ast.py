"""Define the nodes of the syntax tree of a pattern. All engines share the node types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pretok.charsets.sets import CharSet
from pretok.preset import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Spanned:
    """A node that stands for pattern[start:end]; nodes at different positions may be equal."""

    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Chars(Spanned):
    """Matches one code point that is in `chars` or has a property in `properties`.

    If `negated`, matches one code point that is not in `chars` and has no property in `properties`.
    `properties` holds the names of properties that the parser does not express as a CharSet. If
    `properties` is empty, `negated` is False.
    """

    chars: CharSet
    properties: frozenset[str] = frozenset()
    negated: bool = False

    @property
    def charset(self) -> CharSet | None:
        """The set of the code points that match; None if `properties` is not empty."""
        return None if self.properties else self.chars


@dataclass(frozen=True, slots=True)
class Repeat(Spanned):
    """`node{low,high}`; no limit if `high` is None."""

    node: Node
    low: int
    high: int | None
    mode: Literal["greedy", "lazy", "possessive"] = "greedy"


@dataclass(frozen=True, slots=True)
class Group(Spanned):
    """`(?:...|...)` or `(...)`.

    Captures have no effect on a match, because the parser rejects back-references.
    """

    alternatives: Alternatives


@dataclass(frozen=True, slots=True)
class Lookahead(Spanned):
    """`(?=...)`, or `(?!...)` if `negative`."""

    alternatives: Alternatives
    negative: bool


@dataclass(frozen=True, slots=True)
class EndAnchor(Spanned):
    """`$`: the end of the text, or of each line."""

    scope: Literal["text", "line"]


@dataclass(frozen=True, slots=True)
class EngineSpecific(Spanned):
    """The construct `text` in the dialect of `engine`.

    Unequal to every construct of another engine, even if the texts are equal.
    """

    engine: Engine
    text: str


Node = Chars | Repeat | Group | Lookahead | EndAnchor | EngineSpecific
Sequence = tuple[Node, ...]
Alternatives = tuple[Sequence, ...]
