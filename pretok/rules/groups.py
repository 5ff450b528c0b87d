"""Split a run into groups of equal size, counted from the end, like the thousands of a number."""

from __future__ import annotations

from dataclasses import dataclass

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import OUT, Text
from pretok.charsets.notation import set_regex
from pretok.charsets.sets import CharSet
from pretok.rules.base import NO_MATCH, Matcher, Rule, RuleKind, times


@dataclass(frozen=True, repr=False)
class Groups(Rule):
    r"""`body{at_least,size}(?=(?:body{size})*(?!body))`: one group of a run of `body`.

    Groups have `size` code points, counted from the end of the run. The first group has the
    remaining code points, if the length of the run is not a multiple of `size`. A first group of
    fewer than `at_least` code points does not match. No group of a run matches if a member of
    `unless_before` follows the run. `unless_before` may include `body`: if `body` is a set of
    digits, `unless_before=WORD` acts as `\b` after the run. A stage may have at most one Groups
    rule, because two rules would overwrite each other's stored end of a run (`Text.group_end`).

    >>> from pretok.charsets.sets import DIGIT
    >>> print(Groups(DIGIT))
    \p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?!\p{Nd}))
    """

    body: CharSet
    size: int = 3
    at_least: int = 1
    unless_before: CharSet | None = None

    def __post_init__(self) -> None:
        self._require_sets("body")
        self._require_count("size")
        self._require_count("at_least")
        self._require_sets("unless_before", optional=True)
        self._require_range(self.at_least, "size")

    @property
    def _stop(self) -> CharSet | None:
        """The members of `unless_before` outside `body`; None if there are none."""
        return self.unless_before - self.body or None if self.unless_before else None

    def sets(self) -> list[CharSet]:
        return [self.body] if self._stop is None else [self.body, self._stop]

    def first(self) -> list[CharSet]:
        return [self.body]

    def matcher(self, alphabet: Alphabet) -> Matcher:
        body, stop = map(alphabet.mask, (self.body, self._stop))
        size, at_least = self.size, self.at_least

        def match(text: Text, start: int) -> int:
            # One scan finds the end of the run for all groups of the run, so the total time is
            # linear.
            if start >= text.group_end:
                text.group_end = text.members[body].find(OUT, start)
            end = text.group_end
            if end == text.size and text.partial:
                return text.undecided(body)
            if stop and text.members[stop][end]:
                return NO_MATCH
            group = (end - start - 1) % size + 1
            return start + group if group >= at_least else NO_MATCH

        return match

    def serialize(self, alphabet: Alphabet) -> list[int]:
        body, stop = map(alphabet.mask, (self.body, self._stop))
        return [RuleKind.GROUPS, body, stop, self.size, self.at_least]

    @property
    def pattern(self) -> str:
        body = set_regex(self.body)
        stop = set_regex(self.unless_before | self.body) if self.unless_before else body
        first = f"{body}{times(self.at_least, self.size)}"
        return f"{first}(?=(?:{body}{times(self.size, self.size)})*(?!{stop}))"
