// A run of one character set, with an optional lead and tail. rules.hpp explains the members of
// a rule.
#pragma once

#include "core/split/text.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// lead?body{at_least,at_most}tail{0,tail_at_most}. `lead` and `body` are disjoint.
struct Run {
  Mask body = 0;
  Mask lead = 0;
  Mask tail = 0;
  std::uint32_t at_most = 0; // 0: no limit
  std::uint32_t at_least = 1;
  std::uint32_t tail_at_most = 0; // 0: no limit
  bool lead_required = false;     // if true, a match cannot begin with `body` (see `first`)

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    std::size_t begin = start;
    if (has(lead, text.here.class_)) // lead?
      begin += text.here.width;
    std::size_t end;
    if (at_most == 0 && at_least == 1) { // body{at_least,}
      end = text.run_end(body, begin);
      if (end == text.size() && text.partial)
        return text.undecided(body);
      if (end == begin)
        return NO_MATCH;
    } else { // body{at_least,at_most}
      const std::size_t limit = at_most == 0 ? ~std::size_t{0} : at_most;
      std::size_t left = limit;
      end = text.run_end_counting(body, begin, left);
      if (end == text.size() && left != 0 && text.partial)
        return text.undecided(body, at_most == 0 ? UNLIMITED : left);
      if (limit - left < at_least)
        return NO_MATCH;
    }
    if (tail == 0)
      return end;
    std::size_t left = tail_at_most; // tail{0,tail_at_most}
    end = left == 0 ? text.run_end(tail, end) : text.run_end_counting(tail, end, left);
    if (end == text.size() && text.partial && (tail_at_most == 0 || left != 0))
      return text.undecided(tail, tail_at_most == 0 ? UNLIMITED : left);
    return end;
  }

  template <typename Change> void for_masks(Change change) {
    change(body);
    change(lead);
    change(tail);
  }
  Mask first() const { return lead_required ? lead : body | lead; }
  Mask only_in_suffix(std::uint8_t) const { return 0; }
  Mask may_follow(std::uint8_t a) const {
    const Mask more = at_most == 1 ? 0 : body;
    return (has(lead, a) ? body : 0) | (has(body, a) ? more | tail : 0) |
           (has(tail, a) && tail_at_most != 1 ? tail : 0);
  }
  // If at_most is 1, the body is one code point, so no class of `body` follows it. A larger
  // at_most changes nothing here: StagePairs marks the pairs within such a body as
  // LENGTH_LIMITED or UNRESOLVED (neighbors.hpp). Leaves out these classes of the tail:
  //   - All classes if the tail has a limit, since the match may end within the tail.
  //   - A class c that is also in `lead`. A match may begin with c as its lead and b of the
  //     body, so the pair (c, b) has the label of this rule. If c is the tail of a match, the
  //     match ends between c and b, but the label would not change there.
  //   - A class that is also in `body`. This matters only if at_most is 1: otherwise the result
  //     has all classes of `body`. A lower bound may leave out any class.
  Mask always_follows(std::uint8_t a) const {
    if (at_least > 1)
      return 0;
    if (!has(body, a))
      return has(lead, a) ? body : 0;
    const Mask always = tail_at_most == 0 ? tail & ~body & ~lead : 0;
    return (at_most == 1 ? 0 : body) | always;
  }
  Mask always_matches() const { return lead_required || at_least > 1 ? 0 : body; }
  Mask rejects_next(std::uint8_t a) const { return has(body, a) ? 0 : ~body; }
  // False if class a is in both `lead` and `tail`. A code point of class a may then be the tail
  // at the end of one match, and b the start of the next match.
  bool always_joins(std::uint8_t a, std::uint8_t b) const {
    const bool is_limited = at_most > 1 && has(body, a) && has(body, b);
    return has(always_follows(a), b) && !is_limited && !has(lead & tail, a);
  }
  Mask interior() const { return body; }
};

} // namespace pretok
