#include "core/split/fast/neighbors.hpp"

#include <algorithm>

namespace pretok {
namespace {

Mask may_follow(const Rule &rule, std::uint8_t a) {
  return std::visit([a](const auto &kind) { return kind.may_follow(a); }, rule);
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

// White space as neighbors.hpp says it; `space` is 0 if the rules are not so.
struct WhiteSpace {
  Mask space = 0;
  Mask newline = 0;
  Mask tail = 0;
};

} // namespace

struct NeighborTable::Builder {
  const std::vector<Rule> &rules;
  const std::array<std::vector<int>, END + 1> &candidates;
  NeighborTable &table;
  std::vector<int> labels{}; // the rules that have a label; label i + 1 is that of labels[i]

  const Rule &rule(int index) const { return rules[static_cast<std::size_t>(index)]; }
  Pair &pair(std::uint8_t a, std::uint8_t b) const { return table.relations_(a, b); }

  static int label_in(Pair pair) { return (pair & LABELS) >> LABEL; }

  void build() {
    // Classes that may stand in a gap: neighbours in a gap are of one pre-token.
    Mask gap_classes = 0;
    for (std::uint8_t a = 0; a < END; ++a)
      if (std::none_of(candidates[a].begin(), candidates[a].end(),
                       [&](int index) { return has(always_matches(rule(index)), a); }))
        gap_classes |= Mask{1} << a;
    for (std::uint8_t a = 0; a <= END; ++a)
      for (std::uint8_t b = 0; b <= END; ++b)
        pair(a, b) = pair_bit(BOUNDARY);
    for (std::uint8_t a = 0; a < END; ++a) {
      Mask together = has(gap_classes, a) ? gap_classes : 0;
      for (const Rule &each : rules)
        together |= may_follow(each, a);
      for (std::uint8_t b = 0; b < END; ++b)
        if (has(together, b))
          pair(a, b) = relations_of(a, b);
    }
    white_space();
    const bool is_conditional = mark_conditional(gap_classes);
    mark_ambiguous(is_conditional);
    table.has_exact_limit_ = is_limit_exact();
    while (labels.size() >> table.label_bits_ != 0)
      ++table.label_bits_;
  }

  // What is made of a pair that some pre-token may hold.
  Pair relations_of(std::uint8_t a, std::uint8_t b) {
    const auto made_by =
        std::find_if(candidates[a].begin(), candidates[a].end(),
                     [&](int index) { return !has(rejects_next(rule(index), a), b); });
    if (made_by == candidates[a].end() || !has(always_follows(rule(*made_by), a), b))
      return pair_bit(UNRESOLVED);
    Pair found = 0;
    const auto *run = std::get_if<Run>(&rule(*made_by));
    if (run != nullptr && run->at_most > 1 && has(run->body, a) && has(run->body, b)) {
      if (run->at_most > 64)
        return pair_bit(UNRESOLVED);
      table.length_limit_ = std::min(table.length_limit_, run->at_most);
      found |= pair_bit(LENGTH_LIMITED);
    }
    auto label = std::find(labels.begin(), labels.end(), *made_by);
    if (label == labels.end()) {
      if (labels.size() == LABELS >> LABEL)
        return pair_bit(UNRESOLVED);
      label = labels.insert(label, *made_by);
    }
    return static_cast<Pair>(found | (label - labels.begin() + 1) << LABEL);
  }

  // Whether LENGTH_LIMITED is for one label, and each class of such a pair starts that or
  // nothing; a tail that could take more of the body would go beyond at_most.
  bool is_limit_exact() const {
    int label = 0;
    Mask counts = 0; // classes of such pairs
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t b = 0; b < END; ++b)
        if ((pair(a, b) & pair_bit(LENGTH_LIMITED)) != 0) {
          if (label != 0 && label != label_in(pair(a, b)))
            return false;
          label = label_in(pair(a, b));
          counts |= Mask{1} << a | Mask{1} << b;
        }
    if (label == 0)
      return false;
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t b = 0; b < END; ++b)
        if (has(counts, a) && label_in(pair(a, b)) != 0 && label_in(pair(a, b)) != label)
          return false;
    const auto *run = std::get_if<Run>(&rule(labels[static_cast<std::size_t>(label - 1)]));
    return run != nullptr && (run->body & run->tail) == 0;
  }

  // Where only the suffix of a word can hold a pair, tells so; if that is safe.
  bool mark_conditional(Mask gap_classes) {
    for (const Rule &each : rules) {
      const auto *word = std::get_if<CasedWord>(&each);
      if (word == nullptr || !word->suffix)
        continue;
      for (std::uint8_t a = 0; a < END; ++a)
        for (std::uint8_t b = 0; b < END; ++b)
          if (has(word->upper | word->lower, a) && has(word->suffix->apostrophe, b) &&
              pair(a, b) != pair_bit(UNRESOLVED))
            return false;
    }
    for (std::uint8_t a = 0; a < END; ++a) {
      Mask firm = has(gap_classes, a) ? gap_classes : 0;
      for (const Rule &each : rules)
        firm |= may_follow(each, a) & ~only_in_suffix(each, a);
      for (std::uint8_t b = 0; b < END; ++b)
        if (pair(a, b) == pair_bit(UNRESOLVED) && !has(firm, b))
          pair(a, b) = pair_bit(CONDITIONAL);
    }
    return true;
  }

  // Marks the pairs that rules of other labels, which may stand before them, allow as well.
  void mark_ambiguous(bool is_conditional) {
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t before = 0; before < END; ++before) {
        const int other = label_in(pair(before, a));
        if (other == 0)
          continue;
        const Rule &made_by = rule(labels[static_cast<std::size_t>(other - 1)]);
        const Mask allowed =
            may_follow(made_by, a) & ~(is_conditional ? only_in_suffix(made_by, a) : 0);
        for (std::uint8_t b = 0; b < END; ++b)
          if (label_in(pair(a, b)) != 0 && label_in(pair(a, b)) != other && has(allowed, b))
            pair(a, b) |= pair_bit(AMBIGUOUS);
      }
  }

  void white_space() {
    const WhiteSpace white = find_white_space();
    if (white.space == 0)
      return;
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t b = 0; b < END; ++b) {
        Pair &each = pair(a, b);
        if (has(white.space, a) && has(white.space, b))
          each = pair_bit(SPACE_PAIR);
        else if (has(white.space, b) && label_in(each) != 0)
          each = is_tail_of_label(each, b, white.tail)
                     ? static_cast<Pair>(each | pair_bit(TAIL_PAIR))
                     : pair_bit(UNRESOLVED);
        else if (has(white.newline | white.tail, a) && each != pair_bit(BOUNDARY))
          each = pair_bit(UNRESOLVED);
      }
    for (std::uint8_t a = 0; a <= END; ++a)
      for (std::uint8_t b = 0; b < END; ++b) {
        if (has(white.newline, b))
          pair(a, b) |= pair_bit(NEWLINE_CLASS);
        if (has(white.tail, b))
          pair(a, b) |= pair_bit(TAIL_CLASS);
      }
  }

  // Whether the pair's label is of a rule with this tail, and b of it.
  bool is_tail_of_label(Pair each, std::uint8_t b, Mask tail) const {
    const auto *run =
        std::get_if<Run>(&rule(labels[static_cast<std::size_t>(label_in(each) - 1)]));
    return run != nullptr && has(run->tail & tail, b) && tail_of(*run) == tail;
  }
  // The part of a tail that is white space, if it is taken whatever its length.
  Mask tail_of(const Run &run) const { return run.tail_at_most == 0 ? run.tail & white_ : 0; }

  WhiteSpace find_white_space() {
    WhiteSpace white;
    for (const Rule &each : rules)
      if (const auto *spaces = std::get_if<Spaces>(&each)) {
        if (spaces->at_most != 0 || (white.space != 0 && spaces->space != white.space))
          return {};
        white.space = spaces->space;
      }
    white_ = white.space;
    for (const Rule &each : rules) {
      if (!std::holds_alternative<Spaces>(each) && (interior(each) & white.space) != 0)
        return {};
      // Rules with another tail: all pairs that lead into it are UNRESOLVED.
      if (const auto *run = std::get_if<Run>(&each); run != nullptr && white.tail == 0)
        white.tail = tail_of(*run);
    }
    bool first = true;
    for (std::uint8_t a = 0; a < END; ++a)
      if (has(white.space, a)) {
        Mask newline = 0;
        if (!all_but_last(a, white.space, newline) || (!first && newline != white.newline))
          return {};
        white.newline = newline;
        first = false;
      }
    return white;
  }

  // Whether white space of class a that more of it follows is for ALL_BUT_LAST to take, after
  // LAST_NEWLINE, if it is there, with its line breaks.
  bool all_but_last(std::uint8_t a, Mask space, Mask &newline) const {
    for (const int index : candidates[a]) {
      if ((space & ~rejects_next(rule(index), a)) == 0)
        continue;
      const auto *spaces = std::get_if<Spaces>(&rule(index));
      if (spaces == nullptr || spaces->through == Through::ALL)
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

  Mask white_ = 0;
};

NeighborTable::NeighborTable(const std::vector<Rule> &rules,
                             const std::array<std::vector<int>, END + 1> &candidates,
                             Mask used) {
  Builder{rules, candidates, *this}.build();
  relations_.cover_by_rectangles(used);
}

} // namespace pretok
