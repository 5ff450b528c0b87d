"""The closed set of rule kinds: each a small hand-written state machine.

Every rule stands for one alternative of a published pattern. Its `matcher` returns a function that
looks at a text from a position on and says where the match ends. No rule backtracks: a kind
refuses, when it is made, any sets for which that would be needed. cpp/core/split/rules has the same
machines under the same names.
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
