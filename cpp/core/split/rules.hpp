// The closed set of rule kinds: each a small hand-written state machine.
//
// Every rule stands for one alternative of a published pattern: `match` says where its match
// from `start` on ends, or NO_MATCH, or UNDECIDED. No rule backtracks. pretok/rules has the
// same machines under the same names, and refuses rules that would need to.
//
// For the fast path (neighbors.hpp) a rule also says, by masks of classes:
//   first    what a match can begin with;
//   behind   what may stand behind class a in one of its pre-tokens, or more;
//   within   of that, what may only stand there within the suffix of a word;
//   joined   what behind class a it always takes as well, or less;
//   sure     what it matches whenever it is tried there, or less;
//   refuses  behind class a, what it fails on when it is tried at a, or less;
//   inside   what a match may hold besides a lead and a tail, or more.
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

// First word of a rule's record.
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
