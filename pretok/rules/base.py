"""What every kind of rule has, and what kinds check when they are made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import Text
from pretok.charsets.sets import CharSet
from pretok.errors import InvalidRuleError

NO_MATCH = -1
LONGEST = 255
"""How many code points a literal text in a rule may have (cpp/core/split/program.cpp)."""
MAX_LOOK_AHEAD = 4096
"""The most that the rules of all stages may look ahead in total (cpp/core/split/program.cpp)."""

Matcher = Callable[[Text, int], int]
"""(text, start) -> end of the match, or NO_MATCH, or UNDECIDED (charsets.classified_text)."""


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
        """Return the rule as words: its kind, then its fields (cpp/core/split/program.hpp)."""

    @property
    def look_ahead(self) -> int:
        """How many code points the rule may read at a position and then not take, at least 1.

        A run that one scan serves counts as 1. The sum over all rules is MAX_LOOK_AHEAD at most,
        which bounds the time that a text takes.
        """
        return 1

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


def require_count(
    kind: str, field: str, value: object, optional: bool = False, most: int = (1 << 31) - 1
) -> None:
    """Raise InvalidRuleError unless `value` is 1 to `most`, or None if `optional`."""
    if optional and value is None:
        return
    if type(value) is not int or not 1 <= value <= most:
        limit = "2**31-1" if most == (1 << 31) - 1 else str(most)
        wanted = f"None or 1 to {limit}" if optional else f"1 to {limit}"
        raise InvalidRuleError(f"{kind}: {field}={shortened(value)}; expected {wanted}")


def shortened(value: object) -> str:
    """Return the repr of `value` for an error message: its start, if it is long."""
    if isinstance(value, int) and abs(value) >= 1 << 64:  # a long int may have no repr
        return f"an int of {value.bit_length()} bits"
    text = repr(value[:100] if isinstance(value, (str, bytes)) else value)
    return f"{text[:80]}..." if len(text) > 80 else text


def times(at_least: int, at_most: int | None) -> str:
    """Return the quantifier `{at_least,at_most}` in its shortest form."""
    if at_most is None:
        return "+" if at_least == 1 else f"{{{at_least},}}"
    if at_least == at_most:
        return "" if at_least == 1 else f"{{{at_least}}}"
    return f"{{{at_least},{at_most}}}"
