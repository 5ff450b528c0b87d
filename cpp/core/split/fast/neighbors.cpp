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

// The white space of all Spaces rules; `space` is 0 if a condition in neighbors.hpp fails.
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
  std::vector<int> labels{}; // label i + 1 names rule labels[i]

  const Rule &rule(int index) const { return rules[static_cast<std::size_t>(index)]; }
  Pair &pair(std::uint8_t a, std::uint8_t b) const { return table.relations_(a, b); }

  static int label_in(Pair pair) { return (pair & LABELS) >> LABEL; }

  void build() {
    // Classes that may be in a gap. A gap is one pre-token.
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
      for (const Rule &alternative : rules)
        together |= may_follow(alternative, a);
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

  // Returns the relations of a pair that a pre-token may hold.
  Pair relations_of(std::uint8_t a, std::uint8_t b) {
    const auto maker = std::find_if(candidates[a].begin(), candidates[a].end(), [&](int index) {
      return !has(rejects_next(rule(index), a), b);
    });
    if (maker == candidates[a].end() || !has(always_follows(rule(*maker), a), b))
      return pair_bit(UNRESOLVED);
    Pair relations = 0;
    const auto *run = std::get_if<Run>(&rule(*maker));
    if (run != nullptr && run->at_most > 1 && has(run->body, a) && has(run->body, b)) {
      if (run->at_most > 64)
        return pair_bit(UNRESOLVED);
      table.length_limit_ = std::min(table.length_limit_, run->at_most);
      relations |= pair_bit(LENGTH_LIMITED);
    }
    auto label = std::find(labels.begin(), labels.end(), *maker);
    if (label == labels.end()) {
      if (labels.size() == LABELS >> LABEL)
        return pair_bit(UNRESOLVED);
      label = labels.insert(label, *maker);
    }
    return static_cast<Pair>(relations | (label - labels.begin() + 1) << LABEL);
  }

  // Whether the limit is exact: only one label is LENGTH_LIMITED, no other labeled pair begins
  // with a class of such pairs, and the tail of the rule takes none of its body.
  bool is_limit_exact() const {
    int label = 0;
    Mask counts = 0; // classes of LENGTH_LIMITED pairs
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

  // Marks the pairs that only the suffix of a word can hold. Returns false if the proof for
  // CONDITIONAL fails.
  bool mark_conditional(Mask gap_classes) {
    for (const Rule &alternative : rules) {
      const auto *word = std::get_if<CasedWord>(&alternative);
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
      for (const Rule &alternative : rules)
        firm |= may_follow(alternative, a) & ~only_in_suffix(alternative, a);
      for (std::uint8_t b = 0; b < END; ++b)
        if (pair(a, b) == pair_bit(UNRESOLVED) && !has(firm, b))
          pair(a, b) = pair_bit(CONDITIONAL);
    }
    return true;
  }

  // Marks the labeled pairs that the rule of another, preceding label may hold too.
  void mark_ambiguous(bool is_conditional) {
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t before = 0; before < END; ++before) {
        const int previous_label = label_in(pair(before, a));
        if (previous_label == 0)
          continue;
        const Rule &maker = rule(labels[static_cast<std::size_t>(previous_label - 1)]);
        const Mask allowed =
            may_follow(maker, a) & ~(is_conditional ? only_in_suffix(maker, a) : 0);
        for (std::uint8_t b = 0; b < END; ++b)
          if (label_in(pair(a, b)) != 0 && label_in(pair(a, b)) != previous_label &&
              has(allowed, b))
            pair(a, b) |= pair_bit(AMBIGUOUS);
      }
  }

  void white_space() {
    const WhiteSpace white = find_white_space();
    if (white.space == 0)
      return;
    for (std::uint8_t a = 0; a < END; ++a)
      for (std::uint8_t b = 0; b < END; ++b) {
        Pair &relations = pair(a, b);
        if (has(white.space, a) && has(white.space, b))
          relations = pair_bit(SPACE_PAIR);
        else if (has(white.space, b) && label_in(relations) != 0)
          relations = is_tail_of_label(relations, b, white.tail)
                          ? static_cast<Pair>(relations | pair_bit(TAIL_PAIR))
                          : pair_bit(UNRESOLVED);
        else if (has(white.newline | white.tail, a) && relations != pair_bit(BOUNDARY))
          relations = pair_bit(UNRESOLVED);
      }
    for (std::uint8_t a = 0; a <= END; ++a)
      for (std::uint8_t b = 0; b < END; ++b) {
        if (has(white.newline, b))
          pair(a, b) |= pair_bit(NEWLINE_CLASS);
        if (has(white.tail, b))
          pair(a, b) |= pair_bit(TAIL_CLASS);
      }
  }

  // Whether the rule of the label has this tail, and b is in it.
  bool is_tail_of_label(Pair relations, std::uint8_t b, Mask tail) const {
    const auto *run =
        std::get_if<Run>(&rule(labels[static_cast<std::size_t>(label_in(relations) - 1)]));
    return run != nullptr && has(run->tail & tail, b) && tail_of(*run) == tail;
  }
  // Returns the white space in an unlimited tail.
  Mask tail_of(const Run &run) const { return run.tail_at_most == 0 ? run.tail & white_ : 0; }

  WhiteSpace find_white_space() {
    WhiteSpace white;
    for (const Rule &alternative : rules)
      if (const auto *spaces = std::get_if<Spaces>(&alternative)) {
        if (spaces->at_most != 0 || (white.space != 0 && spaces->space != white.space))
          return {};
        white.space = spaces->space;
      }
    white_ = white.space;
    for (const Rule &alternative : rules) {
      if (!std::holds_alternative<Spaces>(alternative) &&
          (interior(alternative) & white.space) != 0)
        return {};
      // Pairs that begin another tail are UNRESOLVED.
      if (const auto *run = std::get_if<Run>(&alternative); run != nullptr && white.tail == 0)
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

  // Whether ALL_BUT_LAST, or LAST_NEWLINE before it, matches white space of class a that more
  // white space follows. Sets `newline` to the line breaks of LAST_NEWLINE.
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
