"""The rule kinds, a closed set of small hand-written state machines.

A rule implements one alternative of a published pattern. `Rule.matcher` returns a function from a
text and a position to the end of the match. No rule backtracks: constructors reject sets that would
require backtracking. cpp/core/split/rules implements each rule kind again, under the same name.
"""

from pretok.rules.base import NO_MATCH as NO_MATCH
from pretok.rules.base import Matcher as Matcher
from pretok.rules.base import Rule as Rule
from pretok.rules.cased_word import CasedWord as CasedWord
from pretok.rules.contraction import APOSTROPHE as APOSTROPHE
from pretok.rules.contraction import FOLD as FOLD
from pretok.rules.contraction import Contraction as Contraction
from pretok.rules.groups import Groups as Groups
from pretok.rules.literal import Enclosed as Enclosed
from pretok.rules.literal import Literal as Literal
from pretok.rules.phrase import Phrase as Phrase
from pretok.rules.run import Run as Run
from pretok.rules.spaces import ALL as ALL
from pretok.rules.spaces import ALL_BUT_LAST as ALL_BUT_LAST
from pretok.rules.spaces import BEFORE_NEWLINE as BEFORE_NEWLINE
from pretok.rules.spaces import END_OF_TEXT as END_OF_TEXT
from pretok.rules.spaces import LAST_NEWLINE as LAST_NEWLINE
from pretok.rules.spaces import Spaces as Spaces
from pretok.rules.spaces import Through as Through
