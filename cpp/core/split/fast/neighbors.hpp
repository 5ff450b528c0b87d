// The fast path of splitting: which pairs of neighbors have a boundary between them.
//
// A pair is two adjacent code points, of classes a and b. A pre-token, a match or a gap holds
// the pair if it contains both code points. (rules.hpp explains the lead, body, tail and suffix
// of a match. A gap is text that no rule matches.) NeighborTable derives the relations of each
// pair from the rules of a program:
//
//   BOUNDARY        No pre-token holds the pair.
//   LABEL           A label names a rule. If all pairs between two boundaries have one label,
//                   the text between these boundaries is one pre-token of that rule. If the
//                   label of (a, b) is not the label of the previous pair, a boundary lies
//                   between a and b.
//   LENGTH_LIMITED  The pair is in the body of a Run with a limit (`at_most`). The limit adds
//                   boundaries.
//   AMBIGUOUS       The pair has the label of a rule r, but a match of another rule q may hold
//                   the pair too. If the previous pair has the label of q, this pair is
//                   unresolved.
//   JOINED          No boundary: every rule that can hold a takes b too. If a pre-token begins
//                   with a, the pair keeps its own label. Otherwise the pair takes the label of
//                   the previous pair.
//   CONDITIONAL     A boundary, unless a pair since the last boundary is unresolved.
//   SPACE_PAIR      Both code points are white space ("White space" below).
//   TAIL_PAIR       b is white space, and begins the tail of a Run.
//   PIECE_END       a is white space, and a stage before the stage that splits white space may
//                   have a boundary between a and b ("Several stages" below).
//   UNRESOLVED      Any other pair. The machine splits the text between the last BOUNDARY
//                   before the pair and the first BOUNDARY after it.
//
// In most texts all pairs are BOUNDARY or labeled. Such pairs need neither rules nor branches.
//
// An example: "I'm  ok" in GPT-2's split, `'(?:s|t|re|ve|m|ll|d)| ?\p{L}+|...|\s+(?!\S)|\s+`.
// Column i has the relations of code points i - 1 and i.
//
//   text            I   '   m   _   _   o   k      (_ is a space)
//   BOUNDARY        1   1   .   1   .   .   .      no pre-token holds I' or m_
//   UNRESOLVED      .   .   1   .   .   .   .      either the contraction 'm, or ' and m
//   SPACE_PAIR      .   .   .   .   1   .   .      __ is a run of white space
//   LABEL of \p{L}  .   .   .   .   .   1   1      a match of ` ?\p{L}+` holds _o and ok
//   boundaries      1   1   .   1   1   .   .      `\s+(?!\S)` leaves the last space
//   split           I | ' m | _ | _ o k            the machine splits "'m", and nothing else
//
// Proof for BOUNDARY. No rule's `may_follow` mask allows b after a, so no match holds the pair.
// At a or at b some rule always matches, so no gap between matches holds the pair.
//
// Proof for CONDITIONAL. Only the suffix of a CasedWord can hold the pair. A suffix begins with
// an apostrophe after a letter. If a CasedWord of the program has suffixes, every pair of a
// letter and the apostrophe is UNRESOLVED. So if no pair since the last boundary is unresolved,
// no pre-token since this boundary holds a suffix.
//
// Proof for labels. Let r be the first rule whose match can begin with a and whose
// `rejects_next` mask for a does not have b. The pair has the label of r if the
// `always_follows` mask of r for a has b.
//   - If the first pair after a boundary has the label of r, r makes the pre-token.
//   - The match of r takes b of every following pair (a, b) with the label of r. The label says
//     that a can begin a match of r. In the middle of a match of r, a code point of such a
//     class belongs to the body. So `always_follows` says that the match takes b.
//   - The match of r ends where the label ends. The next pair has a boundary, or r does not
//     allow b after a. If r may allow b after a although the pair has another label, the pair
//     is AMBIGUOUS.
//
// Proof for limits. A Run with `at_most` n has a boundary after every n code points of its
// body. In a row of LENGTH_LIMITED pairs, this count starts with the first code point of the
// row if three conditions hold (`has_exact_limit`):
//   - All LENGTH_LIMITED pairs have the label of one Run.
//   - No class of the body of this Run is in its tail.
//   - Every labeled pair (a, b) with a in this body has this label.
// Otherwise the last of n LENGTH_LIMITED pairs in a row is unresolved.
//
// White space needs three conditions:
//   - All Spaces rules share the classes of white space.
//   - The first Spaces rule is ALL_BUT_LAST, or the first two are LAST_NEWLINE and
//     ALL_BUT_LAST. END_OF_TEXT rules do not count: they matter only at the end of the text,
//     and the machine handles them.
//   - No rule of another kind can take white space, except in its lead or its tail.
// Then consider a pre-token that starts in a run of white space, before the last code point of
// the run.
//   - If a rule is LAST_NEWLINE and the rest of the run has a line break, the pre-token ends
//     after the last line break of the run.
//   - Otherwise the pre-token ends before the last code point of the run.
// A pre-token that starts before the run can enter the run only with its tail. The first pair
// of the tail is TAIL_PAIR. All tails that begin with a TAIL_PAIR take the same classes of
// white space. So within the run, the tail ends at the first code point of another class. Only
// the rule of the pre-token says whether the pre-token has a tail. This rule is known if no
// pair since the last boundary is unresolved. Boundaries::resolve finds the boundaries in white
// space. If a is a line break or in a tail, b is not white space, and a pre-token may hold the
// pair (a, b), the pair is UNRESOLVED.
//
// Several stages: StagePairs derives the relations above for each stage. If a stage has a
// BOUNDARY between a and b, no piece of a later stage holds the pair, so the rules of later
// stages need not handle the pair. In DeepSeek's split, the first stage cuts digits from
// letters, so no word of the last stage begins with a digit. The table then has for each pair
// (a, b):
//
//   BOUNDARY      Some stage has BOUNDARY, and no rule of an earlier stage can hold a or b.
//                 So the pair is in a gap of each earlier stage. A rule reads no code point
//                 before its match, and at most one after it. So a rule of an earlier stage
//                 that starts before a reads at most a, and a rule of this stage that starts
//                 before b reads at most b. Later stages see two pieces. So the split from b on
//                 is the split of a text that begins with b, and the split before b depends on
//                 nothing after b. The rules resume at BOUNDARY pairs, and safe_cut.hpp cuts
//                 there.
//   CONDITIONAL   Some stage has a boundary, but a rule of an earlier stage may hold a or b.
//                 The label of the earlier stage is the same before and after the boundary
//                 (Builder::continues in neighbors.cpp). If the label may differ, the pair is
//                 UNRESOLVED.
//   LABEL         No stage has a boundary. The label stands for the labels of all stages, so it
//                 changes if the label of any stage changes. Simple stages do not count: each
//                 pair of a simple stage is either BOUNDARY or never has a boundary
//                 (StagePairs::is_simple).
//   SPACE_PAIR    One stage has SPACE_PAIR. Every later stage surely has no boundary in this
//                 pair. Every earlier stage surely has one, or surely has none
//                 (Builder::find_white_space). If an earlier stage ends the piece (PIECE_END),
//                 ALL_BUT_LAST takes the whole run, as at the end of the text.
//   UNRESOLVED    Any other pair.
//
// A boundary is known if all pairs between the last BOUNDARY and this boundary are resolved.
// Labels and limits do not depend on later code points, and the split of white space depends
// only on the next code point.
//
// Joints. A pair (a, b) is a joint if cutting any text between a and b changes at most the
// pre-token that holds the pair: it is cut in two. A pair is a joint of all stages if it is one
// of each stage: a stage then hands two pieces to the next one, as the parts of the text would,
// and all other pieces stay.
//
// Proof for joints. No rule that can hold a may tell b from the end of the text. Only Spaces
// and Groups look at a code point that they cannot match, so they must not hold a. Then the
// first part has the matches of the whole text, up to the match or the gap with the pair. If no
// rule can hold the pair, it is at a boundary or in a gap, and the machine goes on at b as at
// the start of a text. Otherwise only one rule may hold the pair. It must be the first rule
// that can begin with b, and one of these two:
//   - A Run without a limit, with a and b in its body, not in its tail. Its match in the first
//     part ends after a. Its match from b on ends where the match of the whole text ends.
//   - A CasedWord with a and b in its lower-case run, not in its suffix. The same is true.
#pragma once

#include "core/split/fast/relations.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace pretok {

class Machine;

class NeighborTable {
public:
  // Builds the table of one or more ISOLATED stages over one alphabet.
  explicit NeighborTable(const std::vector<const Machine *> &stages);

  // Returns whether the pair of classes `before` and `after` is a BOUNDARY. The start of the
  // text counts as class END, and every pair (END, b) is a BOUNDARY.
  bool has_boundary(std::uint8_t before, std::uint8_t after) const {
    return (relations_(before, after) & pair_bit(BOUNDARY)) != 0;
  }
  // Returns whether the pair of classes `before` and `after` is a joint.
  bool is_joint(std::uint8_t before, std::uint8_t after) const {
    return has(joints_[before], after);
  }
  const Relations &relations() const { return relations_; }
  // Returns n, the smallest limit of the LENGTH_LIMITED pairs, or 64 if there are no such
  // pairs. A Run with this limit matches at most n - 1 LENGTH_LIMITED pairs in a row.
  std::uint32_t length_limit() const { return length_limit_; }
  // Returns whether, in a row of LENGTH_LIMITED pairs, a pre-token ends after every
  // length_limit() code points. If not, the last of length_limit() such pairs in a row is
  // unresolved.
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
  std::array<Mask, CLASSES> joints_{};
};

} // namespace pretok
