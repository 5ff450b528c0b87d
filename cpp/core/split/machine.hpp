// Machine splits text with rules. It defines the split: the fast path (core/split/fast/) must
// give the same pre-tokens. At each position Machine tries the rules in order, and the first
// rule that matches makes the next pre-token. Consecutive code points at which no rule matches
// form a gap, which is a pre-token too. pretok/machine/machine.py is the same machine in
// Python.
#pragma once

#include "core/base/noinline.hpp"
#include "core/split/behavior.hpp"
#include "core/split/program.hpp"
#include "core/split/rules.hpp"
#include "core/split/text.hpp"
#include "core/unicode/class_table.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

namespace pretok {

// The result of Machine::run. If more text may follow the source, the split is known only up to
// `position`. Positions are in code units.
struct Undecided {
  std::size_t position;
  bool in_gap; // whether the text just before `position` is in a gap
  // GAP, or a rule with an unfinished match that run_from(rule) can continue at `restart`. The
  // match has already taken [position, restart). If `rule` is GAP, `restart` is `position`.
  int rule;
  std::size_t restart;
  // The split stays undecided until `min_more` code points with classes in `classes` follow the
  // source, or one code point of another class. If `classes` is 0, any code point may decide
  // it.
  std::size_t min_more;
  Mask classes;
};

// For each class, the indices of the rules whose match can begin with the class, in ascending
// order.
using Candidates = std::array<std::vector<int>, END + 1>;

// Splits with the rules of a program. A Machine is immutable. Splitting takes linear time.
class Machine {
public:
  // `classes` maps each code point to the class that the rules of the program use. Several
  // machines may share the table.
  Machine(const std::vector<Rule> &rules, std::shared_ptr<const ClassTable> classes);

  const ClassTable &classes() const { return *classes_; }
  const std::vector<Rule> &rules() const { return rules_; }
  const Candidates &candidates() const { return candidates_; }
  int rule_count() const { return static_cast<int>(rules_.size()); }

  // Calls emit(end, rule) for each pre-token of `source`, in order. `end` is the end of the
  // pre-token, and `rule` is the index of its rule, or GAP. If `partial`, more text may follow
  // `source`, and `run` emits only pre-tokens that do not depend on the text after `source`. If
  // `in_gap`, the text just before `source` is in a gap, which may continue in `source`.
  template <typename Source, typename Emit>
  Undecided run(const Source &source, bool partial, bool in_gap, Emit emit) const {
    Text<Source> text(source, partial);
    return run(text, 0, source.size(), in_gap, emit);
  }

  // Like `run`, but continues the match of `rule` that an earlier run left unfinished. `source`
  // starts at Undecided::restart of that run, and `in_gap` is its Undecided::in_gap: whether a
  // gap ends where the match began. This gap is emitted with the end 0, which stands for
  // Undecided::position. At the start of `source` only `rule` is tried. It matches there,
  // because `restart` is the start of a word of the match; otherwise the first code point is a
  // gap.
  template <typename Source, typename Emit>
  Undecided run_from(int rule, const Source &source, bool partial, bool in_gap,
                     Emit emit) const {
    if (source.size() == 0)
      return run(source, partial, in_gap, emit);
    Text<Source> text(source, partial);
    text.here = source.element(0);
    const std::size_t end = match_rule(rules_[static_cast<std::size_t>(rule)], text, 0);
    if (end == UNDECIDED)
      return undecided(text, 0, in_gap, rule);
    if (end == NO_MATCH)
      return run(text, text.here.width, source.size(), true, emit);
    if (in_gap)
      emit(0, GAP);
    emit(end, rule);
    return run(text, end, source.size(), false, emit);
  }

  // Like `run`, but splits only from `from` to the first boundary at or after `to`. A gap that
  // reaches `to` ends there. But if text.partial, this gap is not emitted, and
  // Undecided::in_gap of the result is true.
  template <typename Source, typename Emit>
  Undecided run(Text<Source> &text, std::size_t from, std::size_t to, bool in_gap,
                Emit &emit) const {
    std::size_t position = from;
    while (position < to) {
      text.here = text.source.element(position);
      const Match result = match(text, position);
      if (result.end == UNDECIDED)
        return undecided(text, position, in_gap, result.rule);
      if (result.end == NO_MATCH) {
        in_gap = true;
        position += text.here.width;
        continue;
      }
      if (in_gap)
        emit(position, GAP);
      in_gap = false;
      emit(result.end, result.rule);
      position = result.end;
    }
    if (in_gap && !text.partial) {
      emit(position, GAP);
      in_gap = false;
    }
    return {position, in_gap, GAP, position, UNLIMITED, 0};
  }

  // Returns all classes that any Spaces rule treats as white space.
  Mask spaces() const { return spaces_; }

  // Returns the length, in code units, of the longest run at the start of `source` in which
  // every code point has a class in `mask`.
  template <typename Source> std::size_t run_length(const Source &source, Mask mask) const {
    return Text<Source>(source, false).run_end(mask, 0);
  }

private:
  struct Match {
    std::size_t end;
    int rule;
  };

  // Returns the result of a run in which the match of `rule` at `position` is undecided.
  template <typename Source>
  static Undecided undecided(const Text<Source> &text, std::size_t position, bool in_gap,
                             int rule) {
    if (text.restart <= position)
      return {position, in_gap, GAP, position, text.min_more, text.undecided_classes};
    return {position, in_gap, rule, text.restart, text.min_more, text.undecided_classes};
  }

  // Returns the match of the first rule that matches, or may match (`end` is UNDECIDED), at
  // `start`. Tries only the rules whose match can begin with the class of the code point at
  // `start`.
  template <typename Source>
  PRETOK_NOINLINE Match match(Text<Source> &text, std::size_t start) const {
    for (const int rule : candidates_[text.here.class_]) {
      const std::size_t end = match_rule(rules_[static_cast<std::size_t>(rule)], text, start);
      if (end != NO_MATCH)
        return {end, rule};
    }
    return {NO_MATCH, GAP};
  }

  // Returns rule.match(text, start). std::visit alone would do the same, but compilers do not
  // inline it, so the frequent rules have branches of their own.
  template <typename Source>
  static std::size_t match_rule(const Rule &rule, Text<Source> &text, std::size_t start) {
    if (const auto *run = std::get_if<Run>(&rule))
      return run->match(text, start);
    if (const auto *spaces = std::get_if<Spaces>(&rule))
      return spaces->match(text, start);
    if (const auto *word = std::get_if<CasedWord>(&rule))
      return word->match(text, start);
    if (const auto *contraction = std::get_if<Contraction>(&rule))
      return contraction->match(text, start);
    return std::visit([&](const auto &other) { return other.match(text, start); }, rule);
  }

  std::shared_ptr<const ClassTable> classes_;
  std::vector<Rule> rules_;
  Candidates candidates_;
  Mask spaces_ = 0; // all classes that any Spaces rule treats as white space
};

// The rules are large, so split_utf8.cpp compiles them once for all files that split UTF-8.
extern template Machine::Match Machine::match(Text<Utf8> &text, std::size_t start) const;

} // namespace pretok
