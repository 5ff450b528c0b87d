// The loop: at each position the first rule that matches wins. pretok/machine.py is its twin.
#pragma once

#include "class_table.hpp"
#include "program.hpp"
#include "rules.hpp"
#include "text.hpp"
#include "unicode.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace pretok {

// Rule index of a pre-token that no rule matched.
inline constexpr int GAP = -1;

// Where a text that may go on stops being decided: `resume`. With `in_gap` what lies between the
// last pre-token and there is part of a gap. While what follows is of the classes in `open`, no
// more will be decided.
struct Rest {
  std::size_t resume;
  bool in_gap;
  Mask open;
};

// Splits with a program of rules in one Unicode version. Immutable; linear time.
class Machine {
public:
  Machine(Program program, UnicodeTable table)
      : classes_(program.alphabet, table), rules_(std::move(program.rules)) {
    for (std::size_t rule = 0; rule < rules_.size(); ++rule)
      for (std::uint8_t class_ = 0; class_ < END; ++class_)
        if (can_begin(rules_[rule], class_))
          candidates_[class_].push_back(static_cast<std::uint8_t>(rule));
  }

  const ClassTable &classes() const { return classes_; }

  // Calls emit(end, rule) for each pre-token of `source`, in order, with the position of its end;
  // with `partial`, for those that are decided whatever follows. `in_gap` says that `source` goes
  // on after text that no rule matched.
  template <typename Source, typename Emit>
  Rest run(const Source &source, bool partial, bool in_gap, Emit emit) const {
    Scan<Source> text(source, partial);
    std::size_t position = 0;
    while (position < text.size()) {
      const Element here = source.element(position);
      const Match found = match(text, position, here.class_);
      if (found.end == UNDECIDED)
        return {position, in_gap, text.open};
      if (found.end == NO_MATCH) {
        in_gap = true;
        position += here.width;
        continue;
      }
      if (in_gap)
        emit(position, GAP);
      in_gap = false;
      emit(found.end, found.rule);
      position = found.end;
    }
    if (in_gap && !partial) {
      emit(position, GAP);
      in_gap = false;
    }
    return {position, in_gap, 0};
  }

  // How much of `source`, from its start, is of the classes in `mask`.
  template <typename Source> std::size_t run_length(const Source &source, Mask mask) const {
    return Scan<Source>(source, false).run_end(mask, 0);
  }

private:
  struct Match {
    std::size_t end;
    int rule;
  };

  static bool can_begin(const Rule &rule, std::uint8_t class_) {
    if (const auto *run = std::get_if<Run>(&rule))
      return has(run->body | run->lead, class_);
    if (const auto *word = std::get_if<CasedWord>(&rule))
      return has(word->upper | word->lower | word->lead, class_);
    if (const auto *spaces = std::get_if<Spaces>(&rule))
      return has(spaces->space, class_);
    return has(std::get<Contraction>(rule).apostrophe, class_);
  }

  // Only the rules that can begin with a class are tried where it stands.
  template <typename Text>
  Match match(Text &text, std::size_t start, std::uint8_t class_) const {
    for (const std::uint8_t rule : candidates_[class_]) {
      const std::size_t end =
          std::visit([&](const auto &kind) { return kind.match(text, start); }, rules_[rule]);
      if (end != NO_MATCH)
        return {end, rule};
    }
    return {NO_MATCH, GAP};
  }

  ClassTable classes_;
  std::vector<Rule> rules_;
  std::array<std::vector<std::uint8_t>, END + 1> candidates_;
};

} // namespace pretok
