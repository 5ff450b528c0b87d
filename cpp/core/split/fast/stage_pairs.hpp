// The relations of two neighbors within a piece, by the rules of one stage. NeighborTable
// composes the stages, and neighbors.hpp has the proofs.
#pragma once

#include "core/split/fast/relations.hpp"
#include "core/split/machine.hpp"
#include "core/unicode/classes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// followers[a] is the set of classes b that may follow class a.
using Followers = std::array<Mask, CLASSES>;

class StagePairs {
public:
  static constexpr int NO_LABEL = -1;

  // `live` has every pair of neighbors that a piece of this stage can hold. Earlier stages cut
  // all other pairs.
  StagePairs(const Machine &machine, const Followers &live);

  // Returns the relations of a pair, without labels.
  Pair relations(std::size_t a, std::size_t b) const { return pairs_[a * CLASSES + b]; }
  bool has(std::size_t a, std::size_t b, Relation relation) const {
    return (relations(a, b) & pair_bit(relation)) != 0;
  }
  // Returns the rule that labels the pair, gap() or NO_LABEL.
  int label(std::size_t a, std::size_t b) const { return labels_[a * CLASSES + b]; }
  // Returns the label of pairs that surely lie in a gap.
  int gap() const { return static_cast<int>(rules_.size()); }
  // Returns whether no boundary can be between a and b, whatever the rule of the pre-token.
  bool is_together(std::size_t a, std::size_t b) const { return together_[a] >> b & 1; }
  // Returns whether each pair is a BOUNDARY or together.
  bool is_simple() const { return is_simple_; }
  // Returns whether the pair is a joint (neighbors.hpp).
  bool is_joint(std::uint8_t a, std::uint8_t b) const;
  // Returns the classes that may be in a gap.
  Mask gap_classes() const { return gap_classes_; }

  const Followers &live() const { return live_; }
  // Returns the classes that a match can hold.
  Mask held() const { return held_; }
  // Returns the classes of white space: two neighbors of these classes are a SPACE_PAIR. The
  // mask is 0 if a condition for white space in neighbors.hpp fails.
  Mask space() const { return space_; }
  // Returns the classes of space() that are line breaks of LAST_NEWLINE.
  Mask newline() const { return newline_; }
  // Returns the classes of space() that tails take.
  Mask tail() const { return tail_; }
  // Returns whether a rule is END_OF_TEXT: it matches white space only at the end of a piece.
  bool has_end_of_text() const;
  const Rule &rule(int index) const { return rules_[static_cast<std::size_t>(index)]; }

private:
  Pair &pair(std::size_t a, std::size_t b) { return pairs_[a * CLASSES + b]; }
  int &label(std::size_t a, std::size_t b) { return labels_[a * CLASSES + b]; }

  void find_held();
  void find_pairs();
  Pair label_pair(std::uint8_t a, std::uint8_t b);
  void find_white_space();
  bool all_but_last(std::uint8_t a, Mask space, Mask &newline) const;
  void mark_white_space();
  bool is_tail_of_label(std::uint8_t a, std::uint8_t b) const;
  bool mark_conditional();
  void mark_ambiguous(bool is_conditional);
  void mark_ambiguous_after_joined();
  bool joins(std::uint8_t a, std::uint8_t b) const;
  static bool is_inner(const Rule &rule, std::uint8_t a, std::uint8_t b);
  Mask may_follow(std::size_t rule, std::uint8_t a) const;

  const std::vector<Rule> &rules_;
  Candidates candidates_; // Machine::candidates(), without rules that fail in every piece
  const Followers live_;
  const Mask used_;
  std::array<Pair, CLASSES * CLASSES> pairs_{};
  std::array<int, CLASSES * CLASSES> labels_;
  Followers together_{};
  bool is_simple_ = true;
  std::vector<Mask> held_by_; // for each rule, the classes that its matches can hold
  // For each rule, the classes that its matches can hold after their first code point.
  std::vector<Mask> later_in_;
  Mask held_ = 0;
  Mask gap_classes_ = 0; // classes that may be in a gap
  Mask space_ = 0;
  Mask newline_ = 0;
  Mask tail_ = 0;
};

} // namespace pretok
