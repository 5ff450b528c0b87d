// Groups of code points, counted from the end of a run, such as groups of three digits: 1234567
// is 1, 234 and 567. rules.hpp explains the members of a rule.
#pragma once

#include "core/split/text.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// body{at_least,size}(?=(?:body{size})*(?!body)): one group of a run of `body`. `match` fails
// if a code point of `stop` follows the run.
struct Groups {
  Mask body = 0;
  Mask stop = 0;
  std::uint32_t size = 3;
  std::uint32_t at_least = 1;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    // All groups of the run share one scan. Its result is in `text`: the end of the run, and
    // the number of code points from group_at to this end.
    if (start >= text.group_end || start < text.group_at) {
      text.group_end = start;
      text.group_left = 0;
      while (has(body, text.class_at(text.group_end))) {
        text.group_end = text.next(text.group_end);
        ++text.group_left;
      }
    } else {
      for (; text.group_at < start; text.group_at = text.next(text.group_at))
        --text.group_left;
    }
    text.group_at = start;
    if (text.group_end == text.size() && text.partial)
      return text.undecided(body);
    if (has(stop, text.class_at(text.group_end)))
      return NO_MATCH;
    const auto group = static_cast<std::uint32_t>((text.group_left - 1) % size + 1);
    if (group < at_least)
      return NO_MATCH;
    std::size_t end = start;
    for (std::uint32_t taken = 0; taken < group; ++taken)
      end = text.next(end);
    return end;
  }

  template <typename Change> void for_masks(Change change) {
    change(body);
    change(stop);
  }
  Mask first() const { return body; }
  // Groups of one code point have a boundary after each code point if `stop` is empty.
  // Otherwise the code point after the run decides whether the groups of the run match at all.
  Mask may_follow(std::uint8_t a) const {
    return has(body, a) && (size != 1 || stop != 0) ? body : 0;
  }
  Mask only_in_suffix(std::uint8_t) const { return 0; }
  Mask always_follows(std::uint8_t) const { return 0; }
  Mask always_matches() const { return 0; }
  Mask rejects_next(std::uint8_t) const { return 0; }
  bool always_joins(std::uint8_t, std::uint8_t) const { return false; }
  Mask interior() const { return body; }
};

} // namespace pretok
