// Which neighbours the rules part, and which they join: the fast path of splitting.
//
// For two code points of classes a and b side by side, the rules leave these possibilities.
// BOUNDARY: no rule has a pre-token with b behind a, so there is always a boundary between
// them. A rule's label: if all neighbours between two cuts have it, they are one pre-token,
// that rule's, or, with LENGTH_LIMITED, as many as its at_most makes of them. If there is but
// one such rule, its tail takes none of its body, and all pairs behind its body that have a
// label have its own: then there is a soft boundary behind each at_most of them. Where another
// label follows there is a cut as well, but with AMBIGUOUS it depends. CONDITIONAL: there is a
// cut, unless something is asked since the last one. SPACE_PAIR: white space within a run of
// it; see below. UNRESOLVED: anything else; the machine then splits what lies between the two
// cuts. Most text is made of cuts and single labels, and those need neither rules nor branches.
//
// Why it is right. A pair is BOUNDARY if no rule's `behind` mask allows it: then no pre-token
// can hold it. It is CONDITIONAL if only the suffix of a CasedWord can hold it, and the pair of
// a letter and the apostrophe, which comes before within the same pre-token, is UNRESOLVED for
// all letters: so if nothing is asked since a boundary, no pre-token from there on holds it. It
// has the label of rule r if r is the first of the rules that can begin with a that does not
// refuse b behind it, and r's `joined` mask has b for a. So r is the rule that makes the
// pre-token behind a cut, if the first pair has its label; it takes all the pairs that follow
// with its label, for what joins begins with a class that can begin r, and such a class within
// a match of r is of its body; and it takes no more, for a cut follows, or a pair that it does
// not allow: one that some other label's rule allows is AMBIGUOUS.
//
// White space. Say that all Spaces rules share the classes of white space, that wherever one
// white space stands behind another no other rule that does not refuse that comes before them,
// and that the first of them is ALL_BUT_LAST, or LAST_NEWLINE and then ALL_BUT_LAST
// (END_OF_TEXT matters at the end only, and that is left to the machine). Then a pre-token that
// starts within a run of white space, and not with its last, ends behind the run's last line
// break (with LAST_NEWLINE), or else before the run's last code point. A run is not entered by
// the pre-token before but for a tail, of one set of classes for all rules: such pairs are
// TAIL_PAIR, and what the tail takes of the run ends where another class, not of TAIL_CLASS,
// follows. All of that is known if it is known which rule the pre-token before is of, that is
// if nothing is asked since the last cut: so these boundaries are soft. Boundaries::resolve
// finds them. Pairs that would break this are UNRESOLVED: a last line break, or tail, that
// something may stand behind.
#pragma once

#include "core/split/fast/relations.hpp"
#include "core/split/rules.hpp"
#include "core/unicode/classes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class NeighborTable {
public:
  // `candidates` has for each class the rules that can begin with it, in order; `used` has the
  // classes that occur.
  NeighborTable(const std::vector<Rule> &rules,
                const std::array<std::vector<int>, END + 1> &candidates, Mask used);

  // Whether there is always a boundary between `before` and `after`. Behind END, where a text
  // begins, there is one.
  bool has_boundary(std::uint8_t before, std::uint8_t after) const {
    return (relations_(before, after) & pair_bit(BOUNDARY)) != 0;
  }
  const Relations &relations() const { return relations_; }
  // This many LENGTH_LIMITED pairs in a row are too many for one pre-token; 64 at most.
  std::uint32_t length_limit() const { return length_limit_; }
  // Whether there is a boundary behind each so many of them then; else it is to be asked.
  bool has_exact_limit() const { return has_exact_limit_; }
  // How many bits labels have.
  unsigned label_bits() const { return label_bits_; }

private:
  struct Builder;

  std::uint32_t length_limit_ = 64;
  bool has_exact_limit_ = false;
  unsigned label_bits_ = 0;
  Relations relations_;
};

} // namespace pretok
