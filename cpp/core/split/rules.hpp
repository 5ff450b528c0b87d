// The closed set of rule kinds. Each kind is a small hand-written state machine.
//
// Every rule stands for one alternative of a published regular expression. `match` returns the
// end of the match that begins at `start`, NO_MATCH, or UNDECIDED. No rule backtracks.
// pretok/rules has the same machines under the same names, and refuses rules that would need to
// backtrack.
//
// A match may have a lead (one code point before the body), a body, and a tail (a run
// after the body).
//
// For the fast path (neighbors.hpp) a rule also has the functions below. A class is a set of
// code points that the rules of a stage treat alike (text.hpp). All functions but always_joins
// return a mask: bit i stands for class i. An upper bound may have too many classes, a lower
// bound too few.
//   first              classes that can begin a match;
//   may_follow(a)      classes that may come right after class a in a match: an upper bound;
//   only_in_suffix(a)  the classes of may_follow(a) that can come after a only in a match with
//                      a suffix (CasedWord::suffix);
//   always_follows(a)  classes that a match always takes right after class a, if a is in the
//                      lead or body of the match, not in its tail or suffix: a lower bound.
//                      Ignores limits on the length of a match. A text that begins with a class
//                      a of `first`, followed by one of these classes, has a match;
//   always_matches     classes such that the rule matches at every code point of the class: a
//                      lower bound;
//   rejects_next(a)    classes b such that `match` fails on a text that begins with a and b: a
//                      lower bound. The bit END says whether `match` fails on a text that ends
//                      after a. Callers ignore this bit in the mask of a Spaces rule;
//   interior           classes of a match without its lead and tail: an upper bound;
//   always_joins(a, b) whether every match that contains a also takes b, if b comes right after
//                      a: false if unsure.
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
