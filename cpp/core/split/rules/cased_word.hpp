// A word of a cased script. rules.hpp explains the members of a rule.
#pragma once

#include "core/split/rules/contraction.hpp"

#include <optional>

namespace pretok {

// lead?upper*lower+suffix?|lead?upper+lower*suffix?: a word that ends before the first
// upper-case letter after a lower-case letter. Caseless letters are in both `upper` and
// `lower`.
struct CasedWord {
  Mask upper = 0;
  Mask lower = 0;
  Mask lead = 0;
  std::optional<Contraction> suffix;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    std::size_t begin = start;
    if (has(lead, text.here.class_)) // lead?
      begin += text.here.width;
    std::size_t caseless = NO_MATCH; // end of the last caseless letter that upper* takes
    std::size_t end = text.run_end_noting(upper, begin, lower, caseless); // upper*
    if (end == text.size() && text.partial)
      return text.undecided(upper);
    if (has(lower, text.class_at(end))) { // lower+
      end = text.run_end(lower, end);
      if (end == text.size() && text.partial)
        return text.undecided(lower);
    } else if (caseless != NO_MATCH) {
      // In a regex engine, upper* would give back code points until lower+ matches the last
      // caseless letter. So the match ends after this letter.
      end = caseless;
    }
    if (end == begin)
      return NO_MATCH;
    if (suffix) { // suffix?
      const std::size_t after = suffix->match(text, end);
      if (after != NO_MATCH)
        return after;
    }
    return end;
  }

  template <typename Change> void for_masks(Change change) {
    change(upper);
    change(lower);
    change(lead);
    if (suffix)
      suffix->for_masks(change);
  }
  Mask first() const { return upper | lower | lead; }
  Mask may_follow(std::uint8_t a) const {
    return may_follow_before_suffix(a) | (suffix ? suffix->may_follow(a) : 0);
  }
  Mask only_in_suffix(std::uint8_t a) const {
    return suffix && !has(suffix->apostrophe, a)
               ? suffix->may_follow(a) & ~may_follow_before_suffix(a)
               : 0;
  }
  // Between two letters, a new word can begin only at an upper-case letter after a lower-case
  // or caseless letter.
  Mask always_follows(std::uint8_t a) const {
    return has(lower, a) ? lower : has(upper | lead, a) ? upper | lower : 0;
  }
  Mask always_matches() const { return upper | lower; }
  Mask rejects_next(std::uint8_t a) const {
    return has(upper | lower, a) ? 0 : ~(upper | lower);
  }
  // False if a may be in a suffix, since the match may end after the suffix.
  bool always_joins(std::uint8_t a, std::uint8_t b) const {
    return has(always_follows(a), b) && !(suffix && has(suffix->interior(), a));
  }
  Mask interior() const { return upper | lower | (suffix ? suffix->interior() : 0); }

private:
  // Returns the classes that may follow a in a match before its suffix, and the apostrophe,
  // with which the suffix begins.
  Mask may_follow_before_suffix(std::uint8_t a) const {
    Mask following = has(lead, a) ? upper | lower : 0;
    following |= has(upper, a) ? upper | lower : 0;
    following |= has(lower, a) ? lower : 0;
    if (suffix && has(upper | lower, a))
      following |= suffix->apostrophe;
    return following;
  }
};

} // namespace pretok
