// Words connected by single joints. rules.hpp explains the members of a rule.
#pragma once

#include "core/split/text.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// lead?(?:start rest*(?:joint start rest*)*)+: words, with one joint between two neighboring
// words. `begin` is the set `start`, and `word` is the union of `start` and `rest`.
struct Phrase {
  Mask begin = 0;
  Mask word = 0;
  Mask joint = 0;
  Mask lead = 0;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    std::size_t end = start;
    if (has(lead, text.here.class_)) { // lead?
      end += text.here.width;
      if (end == text.size() && text.partial)
        return text.undecided(0);
    }
    if (!has(begin, text.class_at(end)))
      return NO_MATCH;
    for (;;) {
      const std::size_t last_word = end;
      end = text.run_end(word, end); // start rest*
      if (end == text.size() && text.partial)
        return text.undecided(word, UNLIMITED, last_word);
      if (!has(joint, text.class_at(end)))
        return end;
      const std::size_t next = text.next(end);
      if (next == text.size() && text.partial)
        return text.undecided(0, UNLIMITED, last_word);
      if (!has(begin, text.class_at(next))) // (?:joint start
        return end;
      end = next;
    }
  }

  template <typename Change> void for_masks(Change change) {
    change(begin);
    change(word);
    change(joint);
    change(lead);
  }
  Mask first() const { return begin | lead; }
  Mask may_follow(std::uint8_t a) const {
    return (has(lead | joint, a) ? begin : 0) | (has(word, a) ? word | joint : 0);
  }
  Mask only_in_suffix(std::uint8_t) const { return 0; }
  Mask always_follows(std::uint8_t a) const {
    return has(begin, a) ? word : has(lead, a) ? begin : 0;
  }
  Mask always_matches() const { return begin; }
  Mask rejects_next(std::uint8_t a) const { return has(begin, a) ? 0 : ~begin; }
  bool always_joins(std::uint8_t a, std::uint8_t b) const { return has(always_follows(a), b); }
  Mask interior() const { return word | joint; }
};

} // namespace pretok
