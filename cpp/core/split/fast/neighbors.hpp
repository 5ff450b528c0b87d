// The fast path of splitting: which pairs of neighbors have a boundary between them.
//
// A pair is two adjacent code points, of classes a and b. NeighborTable derives the relations
// of each pair from the rules of a program:
//
//   BOUNDARY        No pre-token of any rule holds the pair.
//   LABEL           A label names a rule. If all pairs between two boundaries have one label,
//                   the text between them is one pre-token of that rule. A boundary lies where
//                   the label changes.
//   LENGTH_LIMITED  The pair is in the body of a Run with `at_most`, which adds boundaries.
//   AMBIGUOUS       The rule that labels the pair before may hold this pair too. If the label
//                   changes at this pair, the pair is unresolved.
//   JOINED          No boundary: every rule that can hold a takes b too. The pair takes the
//                   label of the pair before. If a pre-token begins with a, the pair keeps its
//                   own label.
//   CONDITIONAL     A boundary, unless a pair since the last boundary is unresolved.
//   SPACE_PAIR      Both are white space; see below.
//   TAIL_PAIR       b is white space, and begins the tail of a Run.
//   PIECE_END       a is white space, and a stage before the stage of white space may end a
//                   piece between a and b.
//   UNRESOLVED      Any other pair. The machine splits the text between the last BOUNDARY
//                   before the pair and the first BOUNDARY after it.
//
// In most text all pairs are BOUNDARY or labeled. Such pairs need neither rules nor branches.
//
// An example: "I'm  ok" in GPT-2's split, `'(?:s|t|re|ve|m|ll|d)| ?\p{L}+|...|\s+(?!\S)|\s+`.
// Column i tells the relation of code points i - 1 and i.
//
//   text            I   '   m   _   _   o   k      (_ is a space)
//   BOUNDARY        1   1   .   1   .   .   .      I' and m_ are in no rule's pre-token
//   UNRESOLVED      .   .   1   .   .   .   .      'm is a contraction, or ' alone and m
//   SPACE_PAIR      .   .   .   .   1   .   .      __ is a run of white space
//   LABEL of \p{L}  .   .   .   .   .   1   1      _o and ok are in a word with its lead
//   boundaries      1   1   .   1   1   .   .      the run of white space ends before its last
//   split           I | ' m | _ | _ o k            the machine splits "'m", and nothing else
//
// Proof for BOUNDARY. No rule's `may_follow` mask allows b after a, and no gap between matches
// holds the pair. So no pre-token holds the pair.
//
// Proof for CONDITIONAL. Only the suffix of a CasedWord can hold the pair. In a pre-token with
// a suffix, a letter and the apostrophe come before the pair, and every pair of a letter and
// the apostrophe is UNRESOLVED. If no pair since the last boundary is unresolved, no pre-token
// since this boundary holds such a suffix.
//
// Proof for labels. Consider the rules that can begin with a and do not reject b next. Let r be
// the first of them. The pair has the label of r if the `always_follows` mask of r has b for a.
//   - If the first pair after a boundary has the label of r, r makes the pre-token.
//   - The match of r takes every following pair with the label of r. Such a pair (a, b) begins
//     with a class that can begin r. Within a match of r, this class is in the body of r.
//   - The match of r takes no other pair. Either a boundary follows, or a pair that r does not
//     allow. If r may allow a pair with another label, the pair is AMBIGUOUS.
//
// Proof for limits. A Run with `at_most` n has a boundary after every n code points of its
// body. The count starts at a boundary if three conditions hold (`has_exact_limit`): only one
// label is LENGTH_LIMITED; the tail of the rule of this label takes no class of its body; every
// labeled pair that begins in the body has that label. Otherwise n LENGTH_LIMITED pairs in a
// row are unresolved.
//
// White space needs three conditions:
//   - All Spaces rules share the classes of white space.
//   - The first of them is ALL_BUT_LAST, or LAST_NEWLINE and then ALL_BUT_LAST. The machine
//     handles END_OF_TEXT, which matters only at the end of the text.
//   - No other rule comes before them that can take two white space code points in a row.
// Then consider a pre-token that starts in a run of white space, before its last code point.
//   - If a rule is LAST_NEWLINE and the run has a line break, the pre-token ends after the last
//     line break of the run.
//   - Otherwise the pre-token ends before the last code point of the run.
// A pre-token that starts before the run can enter the run only with its tail. The first pair
// of the tail is TAIL_PAIR. All rules share one set of tail classes, so the tail ends at the
// first code point of another class. Only the rule of the pre-token says whether it has a tail.
// This rule is known if no pair since the last boundary is unresolved. Boundaries::resolve
// finds the boundaries in white space. A pair that may extend a pre-token past its last line
// break or its tail is UNRESOLVED.
//
// Several stages: StagePairs derives the relations above for each stage. If a stage has a
// BOUNDARY between a and b, no piece of a later stage holds the pair, and the rules of later
// stages need not handle it. In DeepSeek's split, the first stage cuts digits from letters, so
// no word of the last stage begins with a digit. The table then has for each pair (a, b):
//
//   BOUNDARY      Some stage has BOUNDARY, and no rule of an earlier stage can hold a or b.
//                 So the pair is in a gap of each earlier stage. Rules look ahead only. In
//                 earlier stages, rules read nothing past a. In this stage, rules read nothing
//                 past b. Later stages see two pieces. So the split from b on is that of a text
//                 that begins with b, and the split before b depends on nothing after b. The
//                 rules resume at BOUNDARY pairs, and safe_cut.hpp cuts there.
//   CONDITIONAL   Some stage has a boundary, but a rule of an earlier stage may hold a or
//                 b. The earlier stage keeps its label across the boundary
//                 (Builder::continues).
//   a label       No stage has a boundary. The label stands for the labels of all stages, so it
//                 changes if the label of any stage changes. It leaves out each stage whose
//                 pairs are all BOUNDARY or together (StagePairs::is_simple).
//   SPACE_PAIR    One stage has SPACE_PAIR. Each other stage surely keeps white space together,
//                 or is earlier and surely cuts it (Builder::find_white_space). If an earlier
//                 stage ends the piece (PIECE_END), ALL_BUT_LAST takes the whole run, as at the
//                 end of the text.
//   UNRESOLVED    Any other pair.
//
// A boundary is known if all pairs between the last BOUNDARY and this boundary are resolved.
// Labels and limits do not depend on later code points, and the split of white space depends
// only on the next code point.
#pragma once

#include "core/split/fast/relations.hpp"

#include <cstdint>
#include <vector>

namespace pretok {

class Machine;

class NeighborTable {
public:
  // Builds the table of one or more ISOLATED stages over one alphabet.
  explicit NeighborTable(const std::vector<const Machine *> &stages);

  // Returns whether the pair of classes `before` and `after` is a BOUNDARY. Class END stands
  // before the text: every pair (END, b) is a BOUNDARY.
  bool has_boundary(std::uint8_t before, std::uint8_t after) const {
    return (relations_(before, after) & pair_bit(BOUNDARY)) != 0;
  }
  const Relations &relations() const { return relations_; }
  // Returns the number of LENGTH_LIMITED pairs in a row, at most 64, that no pre-token holds.
  std::uint32_t length_limit() const { return length_limit_; }
  // Returns whether a pre-token ends after every length_limit() code points of such a row. If
  // not, each length_limit() LENGTH_LIMITED pairs in a row are unresolved.
  bool has_exact_limit() const { return has_exact_limit_; }
  // Returns whether any pair is JOINED.
  bool has_joined() const { return has_joined_; }
  // Returns the number of bits in a label.
  unsigned label_bits() const { return label_bits_; }

private:
  struct Builder;

  std::uint32_t length_limit_ = 64;
  bool has_exact_limit_ = false;
  bool has_joined_ = false;
  unsigned label_bits_ = 0;
  Relations relations_;
};

} // namespace pretok
