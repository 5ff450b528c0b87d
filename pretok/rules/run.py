"""Match a run of one character set, with an optional lead before it and a tail after it."""

from __future__ import annotations

from dataclasses import dataclass

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import OUT, Text
from pretok.charsets.notation import set_regex
from pretok.charsets.sets import CharSet
from pretok.rules.base import MAX_LOOK_AHEAD, NO_MATCH, Matcher, Rule, RuleKind, times


@dataclass(frozen=True, repr=False)
class Run(Rule):
    r"""`lead?body{at_least,at_most}tail*`: a run with an optional lead and tail.

    `lead_required` makes the lead mandatory. `tail_at_most` limits the length of the tail. For
    `at_most` and `tail_at_most`, None means no limit.

    `lead` and `body` may share members only if the rule begins with `lead?body+`, that is, if
    `at_most`, `at_least` and `lead_required` have their defaults. Then the match has the same end
    whether the lead or the body consumes a shared member. Otherwise matching would need
    backtracking, so shared members raise DefinitionError. `tail` and `body` may always share
    members: the body consumes all members of `body` up to `at_most`, and the tail begins after the
    body.

    >>> from pretok.charsets.sets import LETTER, NEWLINE, NUMBER
    >>> print(Run(LETTER, lead=~(NEWLINE | LETTER | NUMBER)))
    [^\r\n\p{L}\p{N}]?\p{L}+
    """

    body: CharSet
    lead: CharSet | None = None
    at_most: int | None = None
    tail: CharSet | None = None
    at_least: int = 1
    lead_required: bool = False
    tail_at_most: int | None = None

    def __post_init__(self) -> None:
        self._require_sets("body")
        self._require_sets("lead", "tail", optional=True)
        self._require_count("at_most", optional=True)
        self._require_count("at_least", limit=MAX_LOOK_AHEAD)
        self._require_count("tail_at_most", optional=True)
        self._require_range(self.at_least, "at_most")
        if self.lead is None and self.lead_required:
            self._raise_invalid("lead_required without a lead; expected a CharSet as lead")
        if self.tail is None and self.tail_at_most is not None:
            self._raise_invalid("tail_at_most without a tail; expected a CharSet as tail")
        is_plain = self.at_most is None and self.at_least == 1 and not self.lead_required
        if self.lead is not None and not is_plain:  # with `lead?body+`, both may share members
            self._require_disjoint(("lead", self.lead), ("body", self.body))

    @property
    def _pure_lead(self) -> CharSet | None:
        """The members of `lead` outside `body`; None if there are none."""
        return self.lead - self.body or None if self.lead else None

    def sets(self) -> list[CharSet]:
        return [chars for chars in (self.body, self._pure_lead, self.tail) if chars is not None]

    def first(self) -> list[CharSet]:
        lead = self._pure_lead
        if lead is None:
            return [self.body]
        return [lead] if self.lead_required else [self.body, lead]

    @property
    def look_ahead(self) -> int:
        return self.at_least

    def matcher(self, alphabet: Alphabet) -> Matcher:
        body, lead, tail = map(alphabet.mask, (self.body, self._pure_lead, self.tail))
        at_least, at_most, tail_at_most = self.at_least, self.at_most, self.tail_at_most

        def match(text: Text, start: int) -> int:
            begin = start
            if lead and text.members[lead][start]:  # lead?
                begin += 1
            if at_most is None:  # body{at_least,}
                end = text.members[body].find(OUT, begin)
                if end == text.size and text.partial:
                    return text.undecided(body)
            else:  # body{at_least,at_most}
                limit = begin + at_most
                end = text.members[body].find(OUT, begin, limit)
                if end < 0:
                    end = limit
                elif end == text.size and text.partial:
                    return text.undecided(body, limit - end)
            if end - begin < at_least:
                return NO_MATCH
            if not tail:
                return end
            if tail_at_most is None:  # tail*
                end = text.members[tail].find(OUT, end)
                return text.undecided(tail) if end == text.size and text.partial else end
            limit = end + tail_at_most  # tail{0,tail_at_most}
            end = text.members[tail].find(OUT, end, limit)
            if end < 0:
                return limit
            return text.undecided(tail, limit - end) if end == text.size and text.partial else end

        return match

    def serialize(self, alphabet: Alphabet) -> list[int]:
        masks = map(alphabet.mask, (self.body, self._pure_lead, self.tail))
        counts = (self.at_most or 0, self.at_least, self.tail_at_most or 0)
        return [RuleKind.RUN, *masks, *counts, int(self.lead_required)]

    @property
    def pattern(self) -> str:
        lead = set_regex(self.lead) + "?" * (not self.lead_required) if self.lead else ""
        tail = set_regex(self.tail) if self.tail else ""
        if tail:
            tail += {None: "*", 1: "?"}.get(self.tail_at_most, f"{{0,{self.tail_at_most}}}")
        return f"{lead}{set_regex(self.body)}{times(self.at_least, self.at_most)}{tail}"
