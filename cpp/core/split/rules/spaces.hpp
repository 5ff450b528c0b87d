// Runs of white space, or parts of such runs. rules.hpp explains the members of a rule.
#pragma once

#include "core/split/text.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// The place where a match ends in its run of white space.
enum class Through : std::uint32_t {
  END_OF_TEXT = 0,  // the end of the run, which must be the end of the text
  LAST_NEWLINE = 1, // after the last line break of the run
  ALL_BUT_LAST = 2, // before the last code point of the run; after it if the run ends the text
  ALL = 3,          // the end of the run
  // Before the first line break of the run; without one, like ALL_BUT_LAST.
  BEFORE_NEWLINE = 4,
};

// White space up to `through`. Only ALL_BUT_LAST and ALL may have the limits `at_most` and
// `at_least`.
struct Spaces {
  Mask space = 0;
  Mask newline = 0;
  Through through = Through::ALL;
  std::uint32_t at_most = 0; // 0: no limit; at_least is then 1 (read_stages checks it)
  std::uint32_t at_least = 1;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    if (through == Through::BEFORE_NEWLINE) { // [^\S\r\n]+(?!\S)
      const std::size_t end = text.run_end(part(), start);
      if (end == text.size())
        return text.partial ? text.undecided(part()) : end;
      if (has(space, text.class_at(end)))
        return end;
      const std::size_t last = text.source.last_start(start, end);
      return last > start ? last : NO_MATCH;
    }
    // All Spaces rules share one scan of the run, and so do all starts within the run. With a
    // scan for each start, a rule that fails on a long run would take quadratic time.
    if (start >= text.space_end || start < text.space_begin) {
      text.space_begin = start;
      text.newline_end = start;
      text.space_end = text.run_end_noting(space, start, newline, text.newline_end);
    }
    const std::size_t end = text.space_end;
    if (end == text.size() && text.partial)
      return text.undecided(space);
    switch (through) {
    case Through::END_OF_TEXT: // \s++$
      return end == text.size() ? end : NO_MATCH;
    case Through::LAST_NEWLINE: // \s*[\r\n]+
      return text.newline_end > start ? text.newline_end : NO_MATCH;
    case Through::ALL_BUT_LAST: { // \s+(?!\S)
      if (end == text.size())
        return limited(text, start, end);
      const std::size_t last = text.source.last_start(start, end);
      return last > start ? limited(text, start, last) : NO_MATCH;
    }
    case Through::BEFORE_NEWLINE:
    case Through::ALL: // \s+
      break;
    }
    return limited(text, start, end);
  }

  template <typename Change> void for_masks(Change change) {
    change(space);
    change(newline);
  }
  Mask first() const { return part(); }
  Mask may_follow(std::uint8_t a) const { return has(part(), a) && at_most != 1 ? part() : 0; }
  Mask only_in_suffix(std::uint8_t) const { return 0; }
  Mask always_follows(std::uint8_t a) const {
    return has(space, a) && through == Through::LAST_NEWLINE ? newline : 0;
  }
  Mask always_matches() const { return through == Through::ALL && at_least == 1 ? space : 0; }
  // ~space has the bit END too, although END_OF_TEXT matches at the end of the text. Callers
  // ignore the bit END of this mask.
  Mask rejects_next(std::uint8_t) const { return through == Through::END_OF_TEXT ? ~space : 0; }
  bool always_joins(std::uint8_t, std::uint8_t) const { return false; }
  Mask interior() const { return part(); }

private:
  // The white space that a match may have.
  Mask part() const { return through == Through::BEFORE_NEWLINE ? space & ~newline : space; }

  // Returns the end of a match of \s{at_least,at_most} within [start, end), or NO_MATCH. The
  // range must not be empty.
  template <typename Source>
  std::size_t limited(const Text<Source> &text, std::size_t start, std::size_t end) const {
    if (at_most == 0)
      return end;
    std::size_t at = start;
    std::uint32_t taken = 0;
    for (; taken < at_most && at < end; ++taken)
      at = text.next(at);
    return taken < at_least ? NO_MATCH : at;
  }
};

} // namespace pretok
