"""Match words joined by single code points."""

from __future__ import annotations

from dataclasses import dataclass

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import OUT, Text
from pretok.charsets.notation import set_regex
from pretok.charsets.sets import CharSet
from pretok.rules.base import NO_MATCH, Matcher, Rule, RuleKind


@dataclass(frozen=True, repr=False)
class Phrase(Rule):
    r"""`lead?(?:start rest*(?:joint start rest*)*)+`: words joined by a `joint`.

    A word begins with a member of `start` and continues with members of `start` and `rest`. One
    member of `joint` stands between two words. One member of `lead` may precede the first word.
    Raises DefinitionError if `lead` and `start` share members, or if `joint` shares members with
    `start` or `rest`.

    >>> from pretok.charsets.sets import LETTER, MARK, SPACE
    >>> print(Phrase(LETTER, MARK, SPACE))
    (?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+
    """

    start: CharSet
    rest: CharSet
    joint: CharSet
    lead: CharSet | None = None

    def __post_init__(self) -> None:
        self._require_sets("start", "rest", "joint")
        self._require_sets("lead", optional=True)
        word = self.start | self.rest
        self._require_disjoint(("joint", self.joint), ("the words", word))
        if self.lead is not None:
            self._require_disjoint(("lead", self.lead), ("start", self.start))

    def sets(self) -> list[CharSet]:
        sets = [self.start, self.start | self.rest, self.joint]
        return sets if self.lead is None else [*sets, self.lead]

    def first(self) -> list[CharSet]:
        return [self.start] if self.lead is None else [self.start, self.lead]

    def matcher(self, alphabet: Alphabet) -> Matcher:
        word, joint = alphabet.mask(self.start | self.rest), alphabet.mask(self.joint)
        start_mask, lead = alphabet.mask(self.start), alphabet.mask(self.lead)

        def match(text: Text, start: int) -> int:
            end = start
            if lead and text.members[lead][start]:  # lead?
                end += 1
                if end == text.size and text.partial:
                    return text.undecided(0)
            if not text.members[start_mask][end]:
                return NO_MATCH
            while True:
                last_word = end
                end = text.members[word].find(OUT, end)  # start rest*
                if end == text.size and text.partial:
                    # Later text cannot change the earlier words, so matching restarts at this one.
                    return text.undecided(word, restart=last_word)
                if not text.members[joint][end]:
                    return end
                if end + 1 == text.size and text.partial:
                    return text.undecided(0, restart=last_word)
                if not text.members[start_mask][end + 1]:  # (?:joint start
                    return end
                end += 1

        return match

    def serialize(self, alphabet: Alphabet) -> list[int]:
        word = self.start | self.rest
        return [RuleKind.PHRASE, *map(alphabet.mask, (self.start, word, self.joint, self.lead))]

    @property
    def pattern(self) -> str:
        lead = f"{set_regex(self.lead)}?" if self.lead else ""
        word = f"{set_regex(self.start)}{set_regex(self.rest)}*"
        return f"{lead}(?:{word}(?:{set_regex(self.joint)}{word})*)+"
