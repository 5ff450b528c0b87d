"""The rule kinds, a closed set of small hand-written state machines.

A rule implements one alternative of a published pattern. `Rule.matcher` returns a function from a
text and a position to the end of the match. No rule backtracks: constructors reject sets that would
require backtracking. cpp/core/split/rules implements each rule kind again, under the same name.
"""

from pretok.rules.base import NO_MATCH, Matcher, Rule
from pretok.rules.cased_word import CasedWord
from pretok.rules.contraction import APOSTROPHE, FOLD, Contraction
from pretok.rules.groups import Groups
from pretok.rules.literal import Enclosed, Literal
from pretok.rules.phrase import Phrase
from pretok.rules.run import Run
from pretok.rules.spaces import (
    ALL,
    ALL_BUT_LAST,
    END_OF_TEXT,
    LAST_NEWLINE,
    Spaces,
    Through,
)

__all__ = [
    "ALL",
    "ALL_BUT_LAST",
    "APOSTROPHE",
    "END_OF_TEXT",
    "FOLD",
    "LAST_NEWLINE",
    "NO_MATCH",
    "CasedWord",
    "Contraction",
    "Enclosed",
    "Groups",
    "Literal",
    "Matcher",
    "Phrase",
    "Rule",
    "Run",
    "Spaces",
    "Through",
]
