"""Match white space, like the white-space alternatives of published patterns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import IN, OUT, Text
from pretok.charsets.notation import set_regex
from pretok.charsets.sets import NEWLINE, WHITE_SPACE, CharSet
from pretok.rules.base import MAX_LOOK_AHEAD, NO_MATCH, Matcher, Rule, RuleKind, times


class Through(IntEnum):
    """The part of a run of white space that a Spaces rule matches."""

    END_OF_TEXT = 0
    LAST_NEWLINE = 1
    ALL_BUT_LAST = 2
    ALL = 3
    BEFORE_NEWLINE = 4


END_OF_TEXT = Through.END_OF_TEXT
LAST_NEWLINE = Through.LAST_NEWLINE
ALL_BUT_LAST = Through.ALL_BUT_LAST
ALL = Through.ALL
BEFORE_NEWLINE = Through.BEFORE_NEWLINE


@dataclass(frozen=True)
class Spaces(Rule):
    r"""A run of white space (`\s`); `through` selects where the match ends.

    - END_OF_TEXT `\s++$` matches the whole run, but only at the end of the text.
    - LAST_NEWLINE `\s*[\r\n]+` matches up to and including the last line break of the run.
    - ALL_BUT_LAST `\s+(?!\S)` matches the whole run at the end of the text. Elsewhere, it matches
      all but the last code point of the run, and does not match a run of one code point.
    - ALL `\s+` matches the whole run.
    - BEFORE_NEWLINE `[^\S\r\n]+(?!\S)` matches up to the first line break of the run. If there is
      none, it matches like ALL_BUT_LAST. It does not match at a line break.

    ALL_BUT_LAST and ALL may have limits: with `at_least=4, at_most=4` they are `\s{4}(?!\S)` and
    `\s{4}`. `at_most=None` means no limit, and then `at_least` must be 1. `space` and `newline`
    replace the sets `\s` and `[\r\n]`; `space` must include `newline`. All Spaces rules of a stage
    must have the same `space` and the same `newline`, because they share one scan of each run.
    """

    through: Through
    at_most: int | None = None
    at_least: int = 1
    space: CharSet = WHITE_SPACE
    newline: CharSet = NEWLINE

    def __post_init__(self) -> None:
        if not isinstance(self.through, Through):
            names = ", ".join(Through.__members__)
            self._raise_invalid(f"through={self.through!r}; expected one of {names}")
        self._require_sets("space", "newline")
        if self.newline - self.space:
            self._raise_invalid(
                f"newline={self.newline!r} has members outside of space={self.space!r}; "
                "expected a subset"
            )
        if not self._part:
            self._raise_invalid(
                "newline equals space; expected members of space outside of newline"
            )
        self._require_count("at_most", optional=True)
        self._require_count("at_least", limit=MAX_LOOK_AHEAD)
        if self.at_most is None and self.at_least == 1:
            return
        if self.through not in (ALL_BUT_LAST, ALL):
            self._raise_invalid(
                "at_least and at_most need through=ALL_BUT_LAST or through=ALL, got "
                f"through={self.through.name}"
            )
        if self.at_most is None or self.at_least > self.at_most:
            self._raise_invalid(
                f"at_least={self.at_least} with at_most={self.at_most}; expected "
                "at_least <= at_most, or at_least=1 without at_most"
            )

    def __repr__(self) -> str:
        at_least = f", at_least={self.at_least}" if self.at_least > 1 else ""
        at_most = f", at_most={self.at_most}" if self.at_most else ""
        space = f", space={self.space!r}" if self.space != WHITE_SPACE else ""
        newline = f", newline={self.newline!r}" if self.newline != NEWLINE else ""
        return f"Spaces(through={self.through.name}{at_most}{at_least}{space}{newline})"

    def sets(self) -> list[CharSet]:
        return list({self.space: 0, self.newline: 0, self._part: 0})

    def first(self) -> list[CharSet]:
        return [self._part]

    @property
    def _part(self) -> CharSet:
        """The members of `space` that a match may have."""
        return self.space - self.newline if self.through is BEFORE_NEWLINE else self.space

    @property
    def look_ahead(self) -> int:
        return self.at_least

    def matcher(self, alphabet: Alphabet) -> Matcher:
        space, newline, part = map(alphabet.mask, (self.space, self.newline, self._part))
        through, at_most, at_least = self.through, self.at_most, self.at_least

        def match_before_newline(text: Text, start: int) -> int:
            end = text.members[part].find(OUT, start)
            if end == text.size:
                return text.undecided(part) if text.partial else end
            if not text.members[space][end]:  # (?!\S)
                end -= 1
            return end if end > start else NO_MATCH

        def match(text: Text, start: int) -> int:
            # One scan of a run serves all Spaces rules at all positions of the run. Otherwise, a
            # rule that fails at each position of a long run would take quadratic time.
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
                end -= 1
            if at_most is not None:
                end = min(end, start + at_most)
            return end if end - start >= at_least else NO_MATCH  # \s+

        return match_before_newline if through is BEFORE_NEWLINE else match

    def serialize(self, alphabet: Alphabet) -> list[int]:
        masks = map(alphabet.mask, (self.space, self.newline))
        return [RuleKind.SPACES, *masks, self.through, self.at_most or 0, self.at_least]

    @property
    def pattern(self) -> str:
        space, newline = set_regex(self.space), set_regex(self.newline)
        if self.through in (END_OF_TEXT, LAST_NEWLINE):
            return (f"{space}++$", f"{space}*{newline}+")[self.through]
        looks_ahead = self.through in (ALL_BUT_LAST, BEFORE_NEWLINE)
        look_ahead = f"(?!{_complement(self.space)})" if looks_ahead else ""
        return f"{set_regex(self._part)}{times(self.at_least, self.at_most)}{look_ahead}"


def _complement(chars: CharSet) -> str:
    return r"\S" if chars == WHITE_SPACE else set_regex(~chars)
