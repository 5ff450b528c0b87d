// Finds the rule of each pre-token, mostly without trying any rule.
#pragma once

#include "core/split/machine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

namespace pretok {

// All rules but those for literal text treat the code points of a class alike. So for most
// pre-tokens, the classes of the first two code points decide which rule made the pre-token
// (rules.hpp). FirstRules stores the rule for each pair of classes that decides it. For all
// other pre-tokens, it tries the rules again.
class FirstRules {
public:
  explicit FirstRules(const Machine &machine) : machine_(machine) { known_.fill(UNSET); }

  // Returns the rule of the pre-token of `text` that starts at `start`, or GAP.
  template <typename Source> int rule_at(Text<Source> &text, std::size_t start) {
    const Element first = text.source.element(start);
    const std::uint8_t second = text.class_at(start + first.width);
    std::int16_t &known = known_[std::size_t{first.class_} * (END + 1) + second];
    if (known == UNSET)
      known = certain_rule(first.class_, second);
    return known == UNCERTAIN ? matched_rule(text, start) : known;
  }

private:
  static constexpr std::int16_t UNSET = -3;
  static constexpr std::int16_t UNCERTAIN = -2;

  // Returns the rule of every pre-token that begins with classes a and b. If `b` is END, the
  // text ends after the first code point. Returns GAP if no rule matches there, and UNCERTAIN
  // if the classes do not decide the rule.
  std::int16_t certain_rule(std::uint8_t a, std::uint8_t b) const {
    for (const int index : machine_.candidates()[a]) {
      const Rule &rule = machine_.rules()[static_cast<std::size_t>(index)];
      const bool matches = std::visit(
          [=](const auto &one) {
            return has(one.always_matches(), a) || (b != END && has(one.always_follows(a), b));
          },
          rule);
      if (matches)
        return static_cast<std::int16_t>(index);
      const bool fails = std::visit(
          [=](const auto &one) { return b != END && has(one.rejects_next(a), b); }, rule);
      if (!fails)
        return UNCERTAIN;
    }
    return GAP;
  }

  // Tries the rules at `start`, and returns the rule that matches, or GAP.
  template <typename Source> int matched_rule(Text<Source> &text, std::size_t start) const {
    int found = GAP;
    auto emit = [&found](std::size_t, int rule) { found = rule; };
    machine_.run(text, start, start + 1, false, emit);
    return found;
  }

  const Machine &machine_;
  std::array<std::int16_t, std::size_t{END + 1} * (END + 1)> known_; // by pair of classes
};

} // namespace pretok
