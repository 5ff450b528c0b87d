// An apostrophe and one of a list of suffixes. rules.hpp explains the members of a rule.
#pragma once

#include "core/split/text.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// In every regex engine, (?i:s) matches s, S and U+017F, and (?i:k) matches k, K and U+212A. No
// other code point outside ASCII folds to an ASCII letter, so `fold` needs no table.
inline constexpr std::uint32_t LONG_S = 0x17F;
inline constexpr std::uint32_t KELVIN_SIGN = 0x212A;
inline std::uint32_t fold(std::uint32_t code_point) {
  if (code_point >= 'A' && code_point <= 'Z')
    return code_point + ('a' - 'A');
  if (code_point == LONG_S)
    return 's';
  return code_point == KELVIN_SIGN ? 'k' : code_point;
}

// '(?:s|t|re|...): an apostrophe (U+0027) and a suffix. If several suffixes of the list match
// the text after the apostrophe, the first of them counts.
struct Contraction {
  // The constructor of Machine sets these two masks:
  Mask apostrophe = 0;
  Mask letters = 0; // classes of the code points that `suffixes` match
  std::vector<std::vector<std::uint32_t>> suffixes;
  // If true, `suffixes` are lower case, as `fold` returns. read_stages (program.hpp) checks it.
  bool ignore_case = false;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    if (start >= text.size() || text.source.code_point(start) != '\'')
      return NO_MATCH;
    for (const auto &suffix : suffixes) {
      std::size_t end = start + 1;
      std::size_t taken = 0;
      while (taken < suffix.size() && end < text.size()) {
        const std::uint32_t code_point = text.source.code_point(end);
        if ((ignore_case ? fold(code_point) : code_point) != suffix[taken])
          break;
        end = text.next(end);
        ++taken;
      }
      if (taken == suffix.size())
        return end;
      if (text.partial && end == text.size())
        return text.undecided(0);
    }
    return NO_MATCH;
  }

  template <typename Change> void for_masks(Change change) {
    change(apostrophe);
    change(letters);
  }
  Mask first() const { return apostrophe; }
  Mask may_follow(std::uint8_t a) const { return has(apostrophe | letters, a) ? letters : 0; }
  Mask only_in_suffix(std::uint8_t) const { return 0; }
  Mask always_follows(std::uint8_t) const { return 0; }
  Mask always_matches() const { return 0; }
  Mask rejects_next(std::uint8_t) const { return ~letters; }
  bool always_joins(std::uint8_t, std::uint8_t) const { return false; }
  Mask interior() const { return apostrophe | letters; }
};

} // namespace pretok
