"""The parts of a pattern that has been read: a tree, the same for every engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pretok.charsets.sets import CharSet
from pretok.preset import Engine


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point of `known`, or of one of `names`; with `negated` one that is in neither.

    `names` are properties that are no CharSet; where there are none, `negated` is False.
    """

    known: CharSet
    names: frozenset[str] = frozenset()
    negated: bool = False

    @property
    def charset(self) -> CharSet | None:
        """The set, if it is a CharSet."""
        return None if self.names else self.known


@dataclass(frozen=True, slots=True)
class Repeat:
    """`what{low,high}`; `high` None is no limit."""

    what: Node
    low: int
    high: int | None
    mode: Literal["greedy", "lazy", "possessive"] = "greedy"


@dataclass(frozen=True, slots=True)
class Group:
    """`(?:...|...)` or `(...)`: captures do not matter, because back-references are not read."""

    alternatives: Alternatives


@dataclass(frozen=True, slots=True)
class Lookahead:
    """`(?=...)`, or `(?!...)` if `negative`."""

    alternatives: Alternatives
    negative: bool


@dataclass(frozen=True, slots=True)
class EndAnchor:
    """`$`: at the end of the "text", or of each "line"."""

    of: Literal["text", "line"]


@dataclass(frozen=True, slots=True)
class LiteralSet:
    """The first of `texts` that matches; a frozenset if at most one of them can match."""

    texts: frozenset[str] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EngineSpecific:
    """The construct `text`, which only `engine` is known to read in its way."""

    engine: Engine
    text: str


Node = Chars | Repeat | Group | Lookahead | EndAnchor | LiteralSet | EngineSpecific
Sequence = tuple[Node, ...]
Alternatives = tuple[Sequence, ...]
