#include "core/split/fast/stage_pairs.hpp"

#include <algorithm>

namespace pretok {
namespace {

// Each of these functions calls the function of the rule with the same name (rules.hpp).
Mask first(const Rule &rule) {
  return std::visit([](const auto &kind) { return kind.first(); }, rule);
}
Mask only_in_suffix(const Rule &rule, std::uint8_t a) {
  return std::visit([a](const auto &kind) { return kind.only_in_suffix(a); }, rule);
}
Mask always_follows(const Rule &rule, std::uint8_t a) {
  return std::visit([a](const auto &kind) { return kind.always_follows(a); }, rule);
}
Mask rejects_next(const Rule &rule, std::uint8_t a) {
  return std::visit([a](const auto &kind) { return kind.rejects_next(a); }, rule);
}
Mask interior(const Rule &rule) {
  return std::visit([](const auto &kind) { return kind.interior(); }, rule);
}
Mask always_matches(const Rule &rule) {
  return std::visit([](const auto &kind) { return kind.always_matches(); }, rule);
}
bool always_joins(const Rule &rule, std::uint8_t a, std::uint8_t b) {
  return std::visit([a, b](const auto &kind) { return kind.always_joins(a, b); }, rule);
}

} // namespace

StagePairs::StagePairs(const Machine &machine, const Followers &live)
    : rules_(machine.rules()), candidates_(machine.candidates()), live_(live),
      used_(machine.classes().used()), held_by_(rules_.size()), later_in_(rules_.size()) {
  labels_.fill(NO_LABEL);
  find_held();
  find_pairs();
  find_white_space();
  if (space_ != 0)
    mark_white_space();
  mark_ambiguous(mark_conditional());
  mark_ambiguous_after_joined();
  for (std::uint8_t a = 0; a < END; ++a)
    for (std::uint8_t b = 0; b < END; ++b)
      is_simple_ &= !pretok::has(used_, a) || !pretok::has(used_ & live_[a], b) ||
                    is_together(a, b) || has(a, b, BOUNDARY);
}

bool StagePairs::has_end_of_text() const {
  return std::any_of(rules_.begin(), rules_.end(), [](const Rule &rule) {
    const auto *spaces = std::get_if<Spaces>(&rule);
    return spaces != nullptr && spaces->through == Through::END_OF_TEXT;
  });
}

// Returns the classes that may come right after class a in a match of the rule within a piece.
Mask StagePairs::may_follow(std::size_t rule, std::uint8_t a) const {
  return live_[a] &
         std::visit([a](const auto &kind) { return kind.may_follow(a); }, rules_[rule]);
}

// Finds the classes that the matches of each rule can hold.
void StagePairs::find_held() {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    // If a rule rejects the end of the text and every class that may follow class a, no match
    // begins with a. This is not true for a Spaces rule, which may match at the end of the
    // text.
    Mask begins = first(rules_[i]);
    for (std::uint8_t a = 0; a < END; ++a)
      if (pretok::has(begins, a) && !std::holds_alternative<Spaces>(rules_[i]) &&
          (((live_[a] & used_) | Mask{1} << END) & ~rejects_next(rules_[i], a)) == 0) {
        begins &= ~(Mask{1} << a);
        auto &rules = candidates_[a];
        rules.erase(std::remove(rules.begin(), rules.end(), static_cast<int>(i)), rules.end());
      }
    held_by_[i] = begins;
    // Compute the transitive closure of may_follow.
    for (Mask before = ~begins; before != held_by_[i];) {
      before = held_by_[i];
      for (std::uint8_t a = 0; a < END; ++a)
        if (pretok::has(held_by_[i], a))
          later_in_[i] |= may_follow(i, a);
      held_by_[i] |= later_in_[i];
    }
    held_ |= held_by_[i];
  }
}

// Finds the relations and the label of each pair, except those of white space.
void StagePairs::find_pairs() {
  for (std::uint8_t a = 0; a < END; ++a)
    if (std::none_of(candidates_[a].begin(), candidates_[a].end(),
                     [&](int index) { return pretok::has(always_matches(rule(index)), a); }))
      gap_classes_ |= Mask{1} << a;
  pairs_.fill(pair_bit(BOUNDARY));
  for (std::uint8_t a = 0; a < END; ++a) {
    // Two neighbors in a gap are in one pre-token.
    Mask together = pretok::has(gap_classes_, a) ? gap_classes_ : 0;
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (pretok::has(held_by_[i], a))
        together |= may_follow(i, a);
    for (std::uint8_t b = 0; b < END; ++b)
      if (pretok::has(together & live_[a], b)) {
        pair(a, b) = label_pair(a, b);
        if (label(a, b) == gap() || joins(a, b))
          together_[a] |= Mask{1} << b;
      }
  }
}

// Labels a pair that a pre-token may hold, and returns the relations of the pair.
Pair StagePairs::label_pair(std::uint8_t a, std::uint8_t b) {
  if (!pretok::has(held_, a) && !pretok::has(held_, b)) {
    label(a, b) = gap();
    return 0;
  }
  const auto &rules = candidates_[a];
  const auto maker = std::find_if(rules.begin(), rules.end(), [&](int index) {
    return !pretok::has(rejects_next(rule(index), a), b);
  });
  if (maker == rules.end() || !pretok::has(always_follows(rule(*maker), a), b))
    return pair_bit(UNRESOLVED);
  const auto *run = std::get_if<Run>(&rule(*maker));
  const bool is_limited = run != nullptr && run->at_most > 1 && pretok::has(run->body, a) &&
                          pretok::has(run->body, b);
  // Boundaries::limit_lengths looks back one word of 64 bits at most, so the machine must count
  // larger limits.
  if (is_limited && run->at_most > 64)
    return pair_bit(UNRESOLVED);
  label(a, b) = *maker;
  return is_limited ? pair_bit(LENGTH_LIMITED) : Pair{0};
}

// Returns whether a is always in a match, never in a gap, and every match that holds a takes b
// too if b follows.
bool StagePairs::joins(std::uint8_t a, std::uint8_t b) const {
  if (pretok::has(gap_classes_, a) || label(a, b) == NO_LABEL)
    return false;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    // True if the rule takes a only as the first code point of a match, and rejects b after a.
    // Then the rule never matches at an a before b.
    const bool is_rejected =
        !pretok::has(later_in_[i], a) && pretok::has(rejects_next(rules_[i], a), b);
    if (pretok::has(held_by_[i], a) && !is_rejected && !always_joins(rules_[i], a, b))
      return false;
  }
  return true;
}

// Returns whether b goes on with the match of a rule that holds a, and a text that begins with
// b has the rest of this match.
bool StagePairs::is_inner(const Rule &rule, std::uint8_t a, std::uint8_t b) {
  const Mask both = Mask{1} << a | Mask{1} << b;
  if (const auto *run = std::get_if<Run>(&rule))
    return run->at_most == 0 && (both & (~run->always_matches() | run->tail)) == 0;
  const auto *word = std::get_if<CasedWord>(&rule);
  return word != nullptr && (both & (~word->lower | word->upper)) == 0 &&
         !(word->suffix && pretok::has(word->suffix->may_follow(a), b));
}

bool StagePairs::is_joint(std::uint8_t a, std::uint8_t b) const {
  int holder = gap(); // the only rule that may hold the pair
  for (int i = 0; i < gap(); ++i) {
    if (!pretok::has(held_by_[static_cast<std::size_t>(i)], a))
      continue;
    if (std::holds_alternative<Spaces>(rule(i)) || std::holds_alternative<Groups>(rule(i)))
      return false;
    if (!pretok::has(may_follow(static_cast<std::size_t>(i), a), b))
      continue;
    if (holder != gap())
      return false;
    holder = i;
  }
  return holder == gap() || (is_inner(rule(holder), a, b) && candidates_[b].front() == holder);
}

// Finds the white space of all Spaces rules, unless a condition in neighbors.hpp fails.
void StagePairs::find_white_space() {
  Mask space = 0;
  for (const Rule &rule : rules_)
    if (const auto *spaces = std::get_if<Spaces>(&rule)) {
      if (spaces->at_most != 0 || (space != 0 && spaces->space != space))
        return;
      space = spaces->space;
    }
  Mask tail = 0;
  for (const Rule &rule : rules_) {
    if (!std::holds_alternative<Spaces>(rule) && (interior(rule) & space) != 0)
      return;
    // `tail` is the white space of the first tail that takes white space. Pairs that begin a
    // tail with other white space become UNRESOLVED (mark_white_space).
    if (const auto *run = std::get_if<Run>(&rule); run != nullptr && tail == 0)
      tail = run->tail_at_most == 0 ? run->tail & space : 0;
  }
  Mask newlines = 0;
  bool is_first = true;
  for (std::uint8_t a = 0; a < END; ++a)
    if (pretok::has(space, a)) {
      Mask newline = 0;
      if (!all_but_last(a, space, newline) || (!is_first && newline != newlines))
        return;
      newlines = newline;
      is_first = false;
    }
  space_ = space;
  newline_ = newlines;
  tail_ = tail;
}

// Tests the rules that may match white space of class a followed by white space, without
// END_OF_TEXT rules. Returns whether the first of these rules is ALL_BUT_LAST, or whether
// LAST_NEWLINE rules come first and ALL_BUT_LAST follows. Sets `newline` to the line breaks of
// LAST_NEWLINE.
bool StagePairs::all_but_last(std::uint8_t a, Mask space, Mask &newline) const {
  for (const int index : candidates_[a]) {
    if ((space & ~rejects_next(rule(index), a)) == 0)
      continue;
    const auto *spaces = std::get_if<Spaces>(&rule(index));
    if (spaces == nullptr || spaces->through >= Through::ALL)
      return false;
    if (spaces->through == Through::END_OF_TEXT)
      continue;
    if (spaces->through == Through::ALL_BUT_LAST)
      return true;
    if (newline != 0 && newline != spaces->newline)
      return false;
    newline = spaces->newline & space;
  }
  return false;
}

// Marks pairs that contain white space as SPACE_PAIR, TAIL_PAIR or UNRESOLVED (neighbors.hpp).
void StagePairs::mark_white_space() {
  for (std::uint8_t a = 0; a < END; ++a)
    for (std::uint8_t b = 0; b < END; ++b) {
      if (!pretok::has(live_[a], b))
        continue;
      Pair relations = pair(a, b);
      if (pretok::has(space_, a) && pretok::has(space_, b))
        relations = pair_bit(SPACE_PAIR);
      else if (pretok::has(space_, b) && label(a, b) != NO_LABEL && label(a, b) != gap())
        relations = is_tail_of_label(a, b) ? static_cast<Pair>(relations | pair_bit(TAIL_PAIR))
                                           : pair_bit(UNRESOLVED);
      else if (pretok::has(newline_ | tail_, a) && relations != pair_bit(BOUNDARY))
        relations = pair_bit(UNRESOLVED);
      else
        continue;
      pair(a, b) = relations;
      together_[a] &= ~(Mask{1} << b);
      if (relations == pair_bit(SPACE_PAIR) || relations == pair_bit(UNRESOLVED))
        label(a, b) = NO_LABEL;
    }
}

// Returns whether b is in the tail of the rule that labels the pair, this tail has no limit,
// and its white space is `tail_`.
bool StagePairs::is_tail_of_label(std::uint8_t a, std::uint8_t b) const {
  const auto *run = std::get_if<Run>(&rule(label(a, b)));
  return run != nullptr && pretok::has(run->tail & tail_, b) && run->tail_at_most == 0 &&
         (run->tail & space_) == tail_;
}

// Marks the UNRESOLVED pairs that only the suffix of a word can hold as CONDITIONAL. If the
// proof for CONDITIONAL fails, because a pair of a letter and the apostrophe is not UNRESOLVED,
// marks nothing and returns false.
bool StagePairs::mark_conditional() {
  for (const Rule &rule : rules_) {
    const auto *word = std::get_if<CasedWord>(&rule);
    if (word == nullptr || !word->suffix)
      continue;
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t b = 0; b < END; ++b)
        if (pretok::has(word->upper | word->lower, a) && pretok::has(live_[a], b) &&
            pretok::has(word->suffix->apostrophe, b) && pair(a, b) != pair_bit(UNRESOLVED))
          return false;
  }
  for (std::uint8_t a = 0; a < END; ++a) {
    Mask outside_suffix = pretok::has(gap_classes_, a) ? gap_classes_ : 0;
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (pretok::has(held_by_[i], a))
        outside_suffix |= may_follow(i, a) & ~only_in_suffix(rules_[i], a);
    for (std::uint8_t b = 0; b < END; ++b)
      if (pair(a, b) == pair_bit(UNRESOLVED) && !pretok::has(outside_suffix, b))
        pair(a, b) = pair_bit(CONDITIONAL);
  }
  return true;
}

// Marks a labeled pair AMBIGUOUS if the pair before may have another label whose rule may hold
// this pair too. `is_conditional` says whether the pairs of suffixes are CONDITIONAL. If so, a
// rule that can hold the pair only in its suffix does not count.
void StagePairs::mark_ambiguous(bool is_conditional) {
  for (std::uint8_t a = 0; a < END; ++a)
    for (std::uint8_t before = 0; before < END; ++before) {
      const int previous = label(before, a);
      if (previous == NO_LABEL || previous == gap())
        continue;
      const Mask allowed = may_follow(static_cast<std::size_t>(previous), a) &
                           ~(is_conditional ? only_in_suffix(rule(previous), a) : 0);
      for (std::uint8_t b = 0; b < END; ++b)
        if (label(a, b) != NO_LABEL && label(a, b) != previous && pretok::has(allowed, b))
          pair(a, b) |= pair_bit(AMBIGUOUS);
    }
}

// NeighborTable turns an AMBIGUOUS pair into a JOINED pair if the pair is also together. The
// pre-token of a JOINED pair may be of any rule that can hold the pair. So the next pair is
// AMBIGUOUS too, unless only the rule of its own label can hold this next pair.
void StagePairs::mark_ambiguous_after_joined() {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::uint8_t before = 0; before < END; ++before)
      for (std::uint8_t a = 0; a < END; ++a) {
        if (!has(before, a, AMBIGUOUS) || !is_together(before, a))
          continue;
        for (std::size_t i = 0; i < rules_.size(); ++i) {
          if (!pretok::has(held_by_[i], before) || !pretok::has(may_follow(i, before), a))
            continue;
          for (std::uint8_t b = 0; b < END; ++b)
            if (label(a, b) != NO_LABEL && label(a, b) != static_cast<int>(i) &&
                pretok::has(may_follow(i, a), b) && !has(a, b, AMBIGUOUS)) {
              pair(a, b) |= pair_bit(AMBIGUOUS);
              is_done = false;
            }
        }
      }
  }
}

} // namespace pretok
