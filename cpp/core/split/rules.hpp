// The closed set of rule kinds. Each kind is a small hand-written state machine.
//
// Every rule stands for one alternative of a published pattern. `match` returns the end of its
// match from `start` on, NO_MATCH, or UNDECIDED. No rule backtracks. pretok/rules has the same
// machines under the same names, and refuses rules that would need to backtrack.
//
// For the fast path (neighbors.hpp) a rule also has these masks of classes. An upper bound may
// hold too many classes, a lower bound too few.
//   first              classes that can begin a match;
//   may_follow(a)      classes that may follow class a in a match: an upper bound;
//   only_in_suffix(a)  those of may_follow(a) that need the suffix of a word;
//   always_follows(a)  classes that a match always takes after class a: a lower bound;
//   always_matches     classes that always begin a match: a lower bound;
//   rejects_next(a)    classes b such that `match` fails on a text that begins with a and b: a
//                      lower bound. END stands for the end of the text;
//   interior           classes of a match without its lead and tail: an upper bound;
//   always_joins(a, b) whether each match that holds a takes a following b too, apart from
//                      matches that begin with a if rejects_next(a) has b: false if unsure.
// for_masks(change) calls change(mask) for each mask that the rule stores.
#pragma once

#include "core/split/rules/cased_word.hpp"
#include "core/split/rules/contraction.hpp"
#include "core/split/rules/groups.hpp"
#include "core/split/rules/literal.hpp"
#include "core/split/rules/phrase.hpp"
#include "core/split/rules/run.hpp"
#include "core/split/rules/spaces.hpp"

#include <cstdint>
#include <variant>

namespace pretok {

// The kind of a rule: the first word of its record in a program.
enum class Kind : std::uint32_t {
  CONTRACTION = 0,
  RUN = 1,
  CASED_WORD = 2,
  SPACES = 3,
  LITERAL = 4,
  ENCLOSED = 5,
  GROUPS = 6,
  PHRASE = 7,
};

using Rule =
    std::variant<Contraction, Run, CasedWord, Spaces, Literal, Enclosed, Groups, Phrase>;

} // namespace pretok
