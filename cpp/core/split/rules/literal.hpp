// Rules that match literal text. rules.hpp explains the members of a rule.
#pragma once

#include "core/split/text.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

using LiteralText = std::vector<std::uint32_t>; // code points, at least one

// If `text` has `literal` at `start`, returns the end of `literal` in `text`. Otherwise returns
// NO_MATCH. Returns UNDECIDED if the match depends on text that may follow.
template <typename Source>
std::size_t match_literal(Text<Source> &text, std::size_t start, const LiteralText &literal) {
  std::size_t end = start;
  for (const std::uint32_t code_point : literal) {
    if (end >= text.size())
      return text.partial ? text.undecided(0) : NO_MATCH;
    if (text.source.code_point(end) != code_point)
      return NO_MATCH;
    end = text.next(end);
  }
  return end;
}

// (?:one|two|...): the first of `texts` that matches.
struct Literal {
  Mask begin = 0; // classes of the first code points of the texts
  Mask rest = 0;  // classes of all other code points of the texts
  std::vector<LiteralText> texts;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    for (const LiteralText &literal : texts) {
      const std::size_t end = match_literal(text, start, literal);
      if (end != NO_MATCH)
        return end;
    }
    return NO_MATCH;
  }

  template <typename Change> void for_masks(Change change) {
    change(begin);
    change(rest);
  }
  Mask first() const { return begin; }
  Mask may_follow(std::uint8_t a) const { return has(begin | rest, a) ? rest : 0; }
  Mask only_in_suffix(std::uint8_t) const { return 0; }
  Mask always_follows(std::uint8_t) const { return 0; }
  Mask always_matches() const { return 0; }
  Mask rejects_next(std::uint8_t) const { return 0; }
  bool always_joins(std::uint8_t, std::uint8_t) const { return false; }
  Mask interior() const { return begin | rest; }
};

// before body{at_least,at_most} after: a run of `body` between two literal texts.
struct Enclosed {
  Mask begin = 0; // class of the first code point of `before`
  Mask rest = 0;  // classes of all other code points of `before`, and of `after`
  Mask body = 0;
  std::uint32_t at_most = 0; // 0: no limit
  std::uint32_t at_least = 1;
  LiteralText before;
  LiteralText after;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    const std::size_t first = match_literal(text, start, before);
    if (first == NO_MATCH || first == UNDECIDED)
      return first;
    const std::size_t limit = at_most == 0 ? ~std::size_t{0} : at_most;
    std::size_t left = limit;
    const std::size_t end = text.run_end_counting(body, first, left);
    if (end == text.size() && left != 0 && text.partial)
      return text.undecided(body, at_most == 0 ? UNLIMITED : left);
    return limit - left < at_least ? NO_MATCH : match_literal(text, end, after);
  }

  template <typename Change> void for_masks(Change change) {
    change(begin);
    change(rest);
    change(body);
  }
  Mask first() const { return begin; }
  Mask may_follow(std::uint8_t a) const { return has(interior(), a) ? rest | body : 0; }
  Mask only_in_suffix(std::uint8_t) const { return 0; }
  Mask always_follows(std::uint8_t) const { return 0; }
  Mask always_matches() const { return 0; }
  Mask rejects_next(std::uint8_t) const { return 0; }
  bool always_joins(std::uint8_t, std::uint8_t) const { return false; }
  Mask interior() const { return begin | rest | body; }
};

} // namespace pretok
