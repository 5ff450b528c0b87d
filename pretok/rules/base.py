"""Define Rule, the base class of all rules, and the checks that their constructors share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import NoReturn

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import Text
from pretok.charsets.sets import CharSet
from pretok.errors import DefinitionError, shortened

NO_MATCH = -1
MAX_LITERAL = 255
"""Maximum code points of a literal text in a rule, as in cpp/core/split/program.cpp."""
MAX_LOOK_AHEAD = 4096
"""Maximum sum of `Rule.look_ahead` over the rules of a preset, as in cpp/core/split/program.cpp."""

Matcher = Callable[[Text, int], int]
"""(text, start) -> end of the match, or NO_MATCH, or UNDECIDED (charsets.classified_text)."""


class RuleKind(IntEnum):
    """First word of a serialized rule; equals `Kind` in cpp/core/split/rules.hpp."""

    CONTRACTION = 0
    RUN = 1
    CASED_WORD = 2
    SPACES = 3
    LITERAL = 4
    ENCLOSED = 5
    GROUPS = 6
    PHRASE = 7


@dataclass(frozen=True)
class Rule:
    """One alternative of a pattern; the subclasses are in pretok.rules."""

    @abstractmethod
    def sets(self) -> list[CharSet]:
        """Return every character set that the rule tests."""

    @abstractmethod
    def first(self) -> list[CharSet]:
        """Return the members of `sets()` whose code points can begin a match."""

    @abstractmethod
    def matcher(self, alphabet: Alphabet) -> Matcher:
        """Return the rule's state machine over the classes of `alphabet`."""

    @abstractmethod
    def serialize(self, alphabet: Alphabet) -> list[int]:
        """Return the rule as 32-bit words: its RuleKind, then its fields.

        cpp/core/split/program.cpp reads these words.
        """

    @property
    def look_ahead(self) -> int:
        """Maximum code points that the rule reads at one position but does not match.

        The value is 1 or more. A run of any length counts as 1 if the rule scans it only once, not
        once for each position in it. MAX_LOOK_AHEAD bounds the sum of `look_ahead` over the rules
        of all stages. So the time per code point of a text is bounded too.
        """
        return 1

    @property
    @abstractmethod
    def pattern(self) -> str:
        """The regex alternative that the rule implements, for display only."""

    def __str__(self) -> str:
        return self.pattern

    def __repr__(self) -> str:
        # Show the first field by position, and later fields only if they differ from the default.
        first, *optional_fields = fields(self)
        arguments = [repr(getattr(self, first.name))]
        for field in optional_fields:
            value = getattr(self, field.name)
            if value != field.default:
                arguments.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _raise_invalid(self, problem: str) -> NoReturn:
        raise DefinitionError(f"{type(self).__name__}: {problem}")

    def _require_sets(self, *names: str, optional: bool = False) -> None:
        """Raise DefinitionError unless the fields `names` are non-empty CharSets.

        If `optional` is true, a field may also be None.
        """
        for name in names:
            value = getattr(self, name)
            if (optional and value is None) or (isinstance(value, CharSet) and value):
                continue
            expected = "None or a non-empty CharSet" if optional else "a non-empty CharSet"
            self._raise_invalid(f"{name}={value!r}; expected {expected}")

    def _require_disjoint(self, first: tuple[str, CharSet], second: tuple[str, CharSet]) -> None:
        """Raise DefinitionError if the sets of `first` and `second` share members.

        `first` and `second` are pairs (name for the error message, set).
        """
        shared = first[1] & second[1]
        if shared:
            self._raise_invalid(
                f"{first[0]} and {second[0]} share {shared!r}, so matching would need "
                "backtracking; make them disjoint"
            )

    def _require_count(self, name: str, optional: bool = False, limit: int = (1 << 31) - 1) -> None:
        """Raise DefinitionError unless the field `name` is an int from 1 to `limit`.

        If `optional` is true, the field may also be None.
        """
        value = getattr(self, name)
        if optional and value is None:
            return
        if type(value) is not int or not 1 <= value <= limit:
            maximum = "2**31-1" if limit == (1 << 31) - 1 else str(limit)
            expected = f"None or 1 to {maximum}" if optional else f"1 to {maximum}"
            self._raise_invalid(f"{name}={shortened(value)}; expected {expected}")

    def _require_range(self, at_least: int, name: str) -> None:
        """Raise DefinitionError if `at_least` is more than the field `name`, a maximum or None."""
        at_most = getattr(self, name)
        if at_most is not None and at_least > at_most:
            self._raise_invalid(
                f"at_least={at_least} is more than {name}={at_most}; expected at most {at_most}"
            )


def serialize_texts(*texts: str) -> list[int]:
    """Return the length and the code points of each text."""
    return [word for text in texts for word in (len(text), *map(ord, text))]


def times(at_least: int, at_most: int | None) -> str:
    """Return the shortest form of the quantifier `{at_least,at_most}`.

    `at_most=None` means that the quantifier has no maximum.
    """
    if at_most is None:
        return "+" if at_least == 1 else f"{{{at_least},}}"
    if at_least == at_most:
        return "" if at_least == 1 else f"{{{at_least}}}"
    return f"{{{at_least},{at_most}}}"
