"""What every kind of rule has, and what kinds check when they are made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields

from pretok.classes import CharSet
from pretok.errors import InvalidRuleError
from pretok.program import Alphabet
from pretok.text import Text

NO_MATCH = -1

Matcher = Callable[[Text, int], int]
"""(text, start) -> end of the match, or NO_MATCH, or UNDECIDED (pretok.text)."""


@dataclass(frozen=True)
class Rule:
    """One alternative of a pattern; use one of the kinds (pretok.rules)."""

    @abstractmethod
    def sets(self) -> list[CharSet]:
        """Return every character set that the rule looks at."""

    @abstractmethod
    def first(self) -> list[CharSet]:
        """Return those of `sets()` that a match can begin with."""

    @abstractmethod
    def matcher(self, alphabet: Alphabet) -> Matcher:
        """Return the rule's state machine over the classes of `alphabet`."""

    @abstractmethod
    def record(self, alphabet: Alphabet) -> list[int]:
        """Return the rule as 32-bit words: its kind, then its fields (cpp/core/program.hpp)."""

    @property
    @abstractmethod
    def pattern(self) -> str:
        """The regex alternative that the rule implements, for people to read."""

    def __str__(self) -> str:
        return self.pattern

    def __repr__(self) -> str:
        # The first argument by position, of the others those that are not what they are anyway.
        first, *others = fields(self)
        given = [repr(getattr(self, first.name))]
        for each in others:
            value = getattr(self, each.name)
            if value != each.default:
                given.append(f"{each.name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"


def require_set(kind: str, field: str, value: object, optional: bool = False) -> None:
    """Raise InvalidRuleError unless `value` is a CharSet with members, or None if `optional`."""
    if optional and value is None:
        return
    if not isinstance(value, CharSet) or not value:
        wanted = "None or a CharSet" if optional else "a CharSet"
        raise InvalidRuleError(f"{kind}: {field}={value!r}; expected {wanted} with members")


def require_disjoint(kind: str, one: tuple[str, CharSet], other: tuple[str, CharSet]) -> None:
    """Raise InvalidRuleError if two named sets share members."""
    if one[1] & other[1]:
        raise InvalidRuleError(
            f"{kind}: {one[0]} and {other[0]} share {one[1] & other[1]!r}, so matching would need "
            "backtracking; make them disjoint"
        )


def require_count(kind: str, field: str, value: object, optional: bool = False) -> None:
    """Raise InvalidRuleError unless `value` is a number of code points, or None if `optional`."""
    if optional and value is None:
        return
    if type(value) is not int or not 1 <= value < 1 << 31:
        wanted = "None or 1 to 2**31-1" if optional else "1 to 2**31-1"
        raise InvalidRuleError(f"{kind}: {field}={value!r}; expected {wanted}")


def times(at_least: int, at_most: int | None) -> str:
    """Return the quantifier `{at_least,at_most}` in its shortest form."""
    if at_most is None:
        return "+" if at_least == 1 else f"{{{at_least},}}"
    if at_least == at_most:
        return "" if at_least == 1 else f"{{{at_least}}}"
    return f"{{{at_least},{at_most}}}"
