"""The closed set of rule kinds: each a small hand-written state machine.

Every rule stands for one alternative of a published pattern. Its `matcher` returns a function that
looks at a text from a position on and says where the match ends. No rule backtracks: a kind
refuses, when it is made, any sets for which that would be needed. cpp/core/rules.hpp has the same
machines under the same names, in the same order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from pretok.classes import NEWLINE, WHITE_SPACE, CharSet, code_points
from pretok.errors import InvalidRuleError
from pretok.notation import set_regex
from pretok.program import Alphabet
from pretok.text import IN, OUT, Text

NO_MATCH = -1

Matcher = Callable[[Text, int], int]
"""(text, start) -> end of the match, or NO_MATCH, or UNDECIDED (pretok.text)."""

APOSTROPHE = code_points("'")
# (?i:s) is s, S and U+017F in every engine; (?i:k) is k, K and U+212A. No other letter beyond
# ASCII folds to an ASCII one.
FOLD = {**{c: c + 32 for c in range(ord("A"), ord("Z") + 1)}, 0x17F: ord("s"), 0x212A: ord("k")}


class Through(IntEnum):
    """How far a Spaces rule takes a run of white space."""

    END_OF_TEXT = 0
    LAST_NEWLINE = 1
    ALL_BUT_LAST = 2
    ALL = 3


END_OF_TEXT = Through.END_OF_TEXT
LAST_NEWLINE = Through.LAST_NEWLINE
ALL_BUT_LAST = Through.ALL_BUT_LAST
ALL = Through.ALL


@dataclass(frozen=True)
class Rule:
    """One alternative of a pattern; use one of the kinds Contraction, Run, CasedWord, Spaces."""

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


@dataclass(frozen=True, init=False)
class Contraction(Rule):
    """`'(?:s|t|re|...)`: an apostrophe (U+0027) and the first suffix that follows it.

    With `ignore_case`, letters match as in `(?i:...)`, U+017F for s included. Suffixes are one or
    more ASCII letters, small ones with `ignore_case`; anything else raises InvalidRuleError.

    >>> print(Contraction("s", "ll", ignore_case=True))
    (?i:'s|'ll)
    """

    suffixes: tuple[str, ...]
    ignore_case: bool

    def __init__(self, *suffixes: str, ignore_case: bool = False) -> None:
        for suffix in suffixes:
            good = isinstance(suffix, str) and suffix.isascii() and suffix.isalpha()
            if not good or (ignore_case and suffix != suffix.lower()):
                kind = "small ASCII letters" if ignore_case else "ASCII letters"
                raise InvalidRuleError(f"Contraction: suffix {suffix!r}; expected {kind}")
        if not suffixes:
            raise InvalidRuleError("Contraction: no suffixes; expected at least one")
        object.__setattr__(self, "suffixes", suffixes)
        object.__setattr__(self, "ignore_case", ignore_case)

    def __repr__(self) -> str:
        words = ", ".join(map(repr, self.suffixes))
        return f"Contraction({words}{', ignore_case=True' if self.ignore_case else ''})"

    def sets(self) -> list[CharSet]:
        return [APOSTROPHE]

    def first(self) -> list[CharSet]:
        return [APOSTROPHE]

    def matcher(self, alphabet: Alphabet) -> Matcher:
        suffixes, ignore_case = self.suffixes, self.ignore_case
        longest = max(map(len, suffixes))

        def match(text: Text, start: int) -> int:
            # '(?:s|t|re|ve|m|ll|d), the first suffix that fits
            if text.chars[start : start + 1] != "'":
                return NO_MATCH
            after = text.chars[start + 1 : start + 1 + longest]
            if ignore_case:
                after = after.translate(FOLD)
            for suffix in suffixes:
                if after.startswith(suffix):
                    return start + 1 + len(suffix)
                if text.partial and len(after) < len(suffix) and suffix.startswith(after):
                    return text.undecided(0)
            return NO_MATCH

        return match

    def record(self, alphabet: Alphabet) -> list[int]:
        words = [0, alphabet.mask(APOSTROPHE), int(self.ignore_case), len(self.suffixes)]
        for suffix in self.suffixes:
            words += [len(suffix), *map(ord, suffix)]
        return words

    @property
    def pattern(self) -> str:
        body = "|".join(f"'{suffix}" for suffix in self.suffixes)
        return f"(?i:{body})" if self.ignore_case else body


@dataclass(frozen=True)
class Run(Rule):
    r"""`lead?body{1,at_most}tail*`: a run of `body`, at most one `lead` before, any `tail` after.

    `lead` and `body` must be disjoint, or matching would need backtracking; raises
    InvalidRuleError if they are not. `tail` may share members with `body`: the body takes all it
    can, and the tail begins behind it.

    >>> from pretok.classes import LETTER, NEWLINE, NUMBER
    >>> print(Run(LETTER, lead=~(NEWLINE | LETTER | NUMBER)))
    [^\r\n\p{L}\p{N}]?\p{L}+
    """

    body: CharSet
    lead: CharSet | None = None
    at_most: int | None = None
    tail: CharSet | None = None

    def __post_init__(self) -> None:
        _require_set("Run", "body", self.body)
        _require_set("Run", "lead", self.lead, optional=True)
        if self.lead is not None:
            _require_disjoint("Run", ("lead", self.lead), ("body", self.body))
        _require_set("Run", "tail", self.tail, optional=True)
        if self.at_most is not None and not (
            isinstance(self.at_most, int) and 1 <= self.at_most < 1 << 31
        ):
            raise InvalidRuleError(f"Run: at_most={self.at_most!r}; expected None or 1 to 2**31-1")

    def sets(self) -> list[CharSet]:
        return [chars for chars in (self.body, self.lead, self.tail) if chars is not None]

    def first(self) -> list[CharSet]:
        return [self.body] if self.lead is None else [self.body, self.lead]

    def matcher(self, alphabet: Alphabet) -> Matcher:
        body, lead, tail = map(alphabet.mask, (self.body, self.lead, self.tail))
        at_most = self.at_most

        def match(text: Text, start: int) -> int:
            begin = start
            if lead and text.members[lead][start]:  # lead?
                begin += 1
            if at_most is None:  # body+
                end = text.members[body].find(OUT, begin)
                if end == text.size and text.partial:
                    return text.undecided(body)
            else:  # body{1,at_most}
                limit = begin + at_most
                end = text.members[body].find(OUT, begin, limit)
                if end < 0:
                    end = limit
                elif end == text.size and text.partial:
                    return text.undecided(body, limit - end)
            if end == begin:
                return NO_MATCH
            if tail:  # tail*
                end = text.members[tail].find(OUT, end)
                if end == text.size and text.partial:
                    return text.undecided(tail)
            return end

        return match

    def record(self, alphabet: Alphabet) -> list[int]:
        masks = map(alphabet.mask, (self.body, self.lead, self.tail))
        return [1, *masks, self.at_most or 0]

    @property
    def pattern(self) -> str:
        lead = f"{set_regex(self.lead)}?" if self.lead else ""
        times = {None: "+", 1: ""}.get(self.at_most, f"{{1,{self.at_most}}}")
        tail = f"{set_regex(self.tail)}*" if self.tail else ""
        return f"{lead}{set_regex(self.body)}{times}{tail}"


@dataclass(frozen=True)
class CasedWord(Rule):
    r"""`lead?upper*lower+suffix?|lead?upper+lower*suffix?`: a word cut where its case falls.

    `upper` and `lower` share the letters without case. They are read as one run: capitals, then
    from the first small letter on no more capitals. If no small letter comes, the run is cut
    behind its last caseless letter, for that is as far as the first alternative can give back.
    `lead` may share caseless letters with the word, where it makes no difference which of the two
    takes one; any other overlap raises InvalidRuleError. `suffix` is a Contraction or None.
    """

    upper: CharSet
    lower: CharSet
    lead: CharSet | None = None
    suffix: Contraction | None = None

    def __post_init__(self) -> None:
        _require_set("CasedWord", "upper", self.upper)
        _require_set("CasedWord", "lower", self.lower)
        _require_set("CasedWord", "lead", self.lead, optional=True)
        if self.lead is not None:
            cased = self._word - (self.upper & self.lower)
            _require_disjoint("CasedWord", ("lead", self.lead), ("the cased letters", cased))
        _require_disjoint("CasedWord", ("the apostrophe", APOSTROPHE), ("the word", self._word))
        if self.suffix is not None and not isinstance(self.suffix, Contraction):
            raise InvalidRuleError(f"CasedWord: suffix={self.suffix!r}; expected a Contraction")

    @property
    def _word(self) -> CharSet:
        return self.upper | self.lower

    @property
    def _pure_lead(self) -> CharSet | None:
        return self.lead - self._word if self.lead is not None else None

    def sets(self) -> list[CharSet]:
        found = [self.upper, self.lower, APOSTROPHE]
        return found if self._pure_lead is None else [*found, self._pure_lead]

    def first(self) -> list[CharSet]:
        lead = self._pure_lead
        return [self.upper, self.lower] if lead is None else [self.upper, self.lower, lead]

    def matcher(self, alphabet: Alphabet) -> Matcher:
        upper, lower, lead = map(alphabet.mask, (self.upper, self.lower, self._pure_lead))
        suffix = self.suffix.matcher(alphabet) if self.suffix else None

        def match(text: Text, start: int) -> int:
            begin = start
            if lead and text.members[lead][start]:  # lead?
                begin += 1
            end = text.members[upper].find(OUT, begin)  # upper*
            if end == text.size and text.partial:
                return text.undecided(upper)
            if text.members[lower][end]:  # lower+
                end = text.members[lower].find(OUT, end)
                if end == text.size and text.partial:
                    return text.undecided(lower)
            else:  # upper* gives back until lower+ can take one; failing that, upper+
                caseless = text.members[lower].rfind(IN, begin, end)
                if caseless >= 0:
                    end = caseless + 1
            if end == begin:
                return NO_MATCH
            if suffix:  # suffix?
                after = suffix(text, end)
                if after != NO_MATCH:
                    return after
            return end

        return match

    def record(self, alphabet: Alphabet) -> list[int]:
        masks = map(alphabet.mask, (self.upper, self.lower, self._pure_lead))
        suffix = self.suffix.record(alphabet)[1:] if self.suffix else []
        return [2, *masks, *suffix]

    @property
    def pattern(self) -> str:
        lead = f"{set_regex(self.lead)}?" if self.lead else ""
        upper, lower = set_regex(self.upper), set_regex(self.lower)
        suffix = f"(?:{self.suffix})?" if self.suffix else ""
        return f"{lead}{upper}*{lower}+{suffix}|{lead}{upper}+{lower}*{suffix}"


@dataclass(frozen=True)
class Spaces(Rule):
    r"""White space (`\s`), as far as `through` says.

    END_OF_TEXT `\s++$`: the whole run if the text ends with it. LAST_NEWLINE `\s*[\r\n]+`: through
    the last line break in the run. ALL_BUT_LAST `\s+(?!\S)`: the whole run if the text ends with
    it, else all but its last code point, if it has two or more. ALL `\s+`: the whole run.
    """

    through: Through

    def __post_init__(self) -> None:
        if not isinstance(self.through, Through):
            names = ", ".join(Through.__members__)
            raise InvalidRuleError(f"Spaces: through={self.through!r}; expected one of {names}")

    def __repr__(self) -> str:
        return f"Spaces(through={self.through.name})"

    def sets(self) -> list[CharSet]:
        return [WHITE_SPACE, NEWLINE]

    def first(self) -> list[CharSet]:
        return [WHITE_SPACE]

    def matcher(self, alphabet: Alphabet) -> Matcher:
        space, newline = map(alphabet.mask, (WHITE_SPACE, NEWLINE))
        through = self.through

        def match(text: Text, start: int) -> int:
            # One scan serves every Spaces rule and every start in the run, so that a rule that
            # fails on a long run cannot make the whole quadratic.
            if start >= text.space_end:
                text.space_end = text.members[space].find(OUT, start)
                text.space_newline = text.members[newline].rfind(IN, start, text.space_end)
            end = text.space_end
            if end == text.size and text.partial:
                return text.undecided(space)
            if through is END_OF_TEXT:  # \s++$
                return end if end == text.size else NO_MATCH
            if through is LAST_NEWLINE:  # \s*[\r\n]+
                return text.space_newline + 1 if text.space_newline >= start else NO_MATCH
            if through is ALL_BUT_LAST and end < text.size:  # \s+(?!\S)
                return end - 1 if end - start > 1 else NO_MATCH
            return end  # \s+

        return match

    def record(self, alphabet: Alphabet) -> list[int]:
        return [3, alphabet.mask(WHITE_SPACE), alphabet.mask(NEWLINE), self.through]

    @property
    def pattern(self) -> str:
        return (r"\s++$", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+")[self.through]


def _require_set(kind: str, field: str, value: object, optional: bool = False) -> None:
    if optional and value is None:
        return
    if not isinstance(value, CharSet) or not value:
        wanted = "None or a CharSet" if optional else "a CharSet"
        raise InvalidRuleError(f"{kind}: {field}={value!r}; expected {wanted} with members")


def _require_disjoint(kind: str, one: tuple[str, CharSet], other: tuple[str, CharSet]) -> None:
    if one[1] & other[1]:
        raise InvalidRuleError(
            f"{kind}: {one[0]} and {other[0]} share {one[1] & other[1]!r}, so matching would need "
            "backtracking; make them disjoint"
        )
