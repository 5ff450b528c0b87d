"""Match a word up to a change from lowercase to uppercase."""

from __future__ import annotations

from dataclasses import dataclass

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import IN, OUT, Text
from pretok.charsets.notation import set_regex
from pretok.charsets.sets import CharSet
from pretok.rules.base import NO_MATCH, Matcher, Rule, RuleKind
from pretok.rules.contraction import APOSTROPHE, Contraction


@dataclass(frozen=True, repr=False)
class CasedWord(Rule):
    r"""`lead?upper*lower+suffix?|lead?upper+lower*suffix?`: uppercase before lowercase.

    Here, a caseless letter is a member of both `upper` and `lower`. Between `lead` and `suffix`, a
    match is a run of `upper`, then a run of `lower`. If no member of `lower` follows the run of
    `upper`, the match ends after the last caseless letter of the run: in a regex engine, `upper*`
    would backtrack to it. If the run of `upper` has no caseless letter, the second alternative
    matches the whole run.

    `lead` may contain caseless letters, because the match has the same end whether `lead` or
    `upper*` consumes a caseless letter. Raises DefinitionError if `lead` contains a letter that is
    in only one of `upper` and `lower`, or if `upper` or `lower` contains U+0027.
    """

    upper: CharSet
    lower: CharSet
    lead: CharSet | None = None
    suffix: Contraction | None = None

    def __post_init__(self) -> None:
        self._require_sets("upper", "lower")
        self._require_sets("lead", optional=True)
        if self.lead is not None:
            cased = self._word - (self.upper & self.lower)
            self._require_disjoint(("lead", self.lead), ("the cased letters", cased))
        self._require_disjoint(("the apostrophe", APOSTROPHE), ("the word", self._word))
        if self.suffix is not None and not isinstance(self.suffix, Contraction):
            self._raise_invalid(f"suffix={self.suffix!r}; expected a Contraction")

    @property
    def _word(self) -> CharSet:
        return self.upper | self.lower

    @property
    def _pure_lead(self) -> CharSet | None:
        """The members of `lead` that are not in `upper` or `lower`; None without a `lead`."""
        return self.lead - self._word if self.lead is not None else None

    def sets(self) -> list[CharSet]:
        sets = [self.upper, self.lower, APOSTROPHE]
        return sets if self._pure_lead is None else [*sets, self._pure_lead]

    def first(self) -> list[CharSet]:
        lead = self._pure_lead
        return [self.upper, self.lower] if lead is None else [self.upper, self.lower, lead]

    @property
    def look_ahead(self) -> int:
        return 1 + (self.suffix.look_ahead if self.suffix else 0)

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
            else:  # in a regex, upper* would backtrack until lower+ matches, or else upper+ matches
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

    def serialize(self, alphabet: Alphabet) -> list[int]:
        masks = map(alphabet.mask, (self.upper, self.lower, self._pure_lead))
        suffix = self.suffix.serialize(alphabet)[1:] if self.suffix else []
        return [RuleKind.CASED_WORD, *masks, *suffix]

    @property
    def pattern(self) -> str:
        lead = f"{set_regex(self.lead)}?" if self.lead else ""
        upper, lower = set_regex(self.upper), set_regex(self.lower)
        suffix = f"(?:{self.suffix})?" if self.suffix else ""
        return f"{lead}{upper}*{lower}+{suffix}|{lead}{upper}+{lower}*{suffix}"
