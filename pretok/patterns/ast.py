"""Define the nodes of the syntax tree of a pattern. All engines share the node types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pretok.charsets.sets import CharSet
from pretok.preset import Engine


@dataclass(frozen=True, slots=True)
class Chars:
    """Matches one code point of `chars` or of a property in `properties`.

    If `negated`, matches one code point that is in none of them. `properties` holds the names of
    properties that have no CharSet. If `properties` is empty, `negated` is False.
    """

    chars: CharSet
    properties: frozenset[str] = frozenset()
    negated: bool = False

    @property
    def charset(self) -> CharSet | None:
        """The matching set; None if a property has no CharSet."""
        return None if self.properties else self.chars


@dataclass(frozen=True, slots=True)
class Repeat:
    """`node{low,high}`; no limit if `high` is None."""

    node: Node
    low: int
    high: int | None
    mode: Literal["greedy", "lazy", "possessive"] = "greedy"


@dataclass(frozen=True, slots=True)
class Group:
    """`(?:...|...)` or `(...)`: the parser rejects back-references, so captures do not matter."""

    alternatives: Alternatives


@dataclass(frozen=True, slots=True)
class Lookahead:
    """`(?=...)`, or `(?!...)` if `negative`."""

    alternatives: Alternatives
    negative: bool


@dataclass(frozen=True, slots=True)
class EndAnchor:
    """`$`: the end of the text, or of each line."""

    scope: Literal["text", "line"]


@dataclass(frozen=True, slots=True)
class LiteralSet:
    """Matches the first matching text of `texts`; the order of a frozenset does not matter."""

    texts: frozenset[str] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EngineSpecific:
    """The construct `text`, which equals only the same text for the same `engine`."""

    engine: Engine
    text: str


Node = Chars | Repeat | Group | Lookahead | EndAnchor | LiteralSet | EngineSpecific
Sequence = tuple[Node, ...]
Alternatives = tuple[Sequence, ...]
