// A text as rules read it: a class at each position. The alphabet of a stage maps each code
// point to a class. Only rules for literal text look at the code points themselves. Every text
// ends with class END. No mask of a character set contains END, so no run crosses the end of
// the text. Positions are in code units. pretok/charsets/classified_text.py does the same in
// Python.
#pragma once

#include "core/split/sources.hpp"
#include "core/unicode/classes.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

inline constexpr std::size_t NO_MATCH = static_cast<std::size_t>(-1);
// The result of a rule whose match depends on text that is not known yet. Text::undecided
// records how much more text the rule needs to find the end of the match.
inline constexpr std::size_t UNDECIDED = static_cast<std::size_t>(-2);
// Larger than any number of code points in a text.
inline constexpr std::size_t UNLIMITED = static_cast<std::size_t>(-1) / 2;

template <typename Source> class Text {
public:
  // If `is_partial`, more text may follow `text`.
  Text(const Source &text, bool is_partial) : source(text), partial(is_partial) {}

  std::size_t size() const { return source.size(); }
  std::uint8_t class_at(std::size_t at) const {
    return at < size() ? source.element(at).class_ : END;
  }
  // Returns the position after the code point at `at`.
  std::size_t next(std::size_t at) const { return at + source.element(at).width; }

  // Returns the end of the run that begins at `at`. The run is the longest one in which every
  // code point has a class in `set`. The run may be empty.
  std::size_t run_end(Mask set, std::size_t at) const {
    std::size_t ignored = 0;
    return run_end_noting(set, at, 0, ignored);
  }

  // Like run_end, but the run has at most `count` code points. Reduces `count` by the number of
  // code points in the run.
  std::size_t run_end_counting(Mask set, std::size_t at, std::size_t &count) const {
    for (; count != 0 && at < size(); --count) {
      const Element element = source.element(at);
      if (!has(set, element.class_))
        break;
      at += element.width;
    }
    return at;
  }

  // Like run_end. If code points of the run have classes in `noted`, also sets `last` to the
  // end of the last such code point.
  std::size_t run_end_noting(Mask set, std::size_t at, Mask noted, std::size_t &last) const {
    while (at < size()) {
      const Element element = source.element(at);
      if (!has(set, element.class_))
        break;
      at += element.width;
      if (has(noted, element.class_))
        last = at;
    }
    return at;
  }

  // Records that the match depends on text that may follow, and returns UNDECIDED. The match
  // stays undecided until `needed` more code points with classes in `mask` follow, or one code
  // point of another class. `restart_at` is a position in the match, such as the start of the
  // last word of a Phrase. When more text follows, the rule continues the match at this
  // position, and does not need the text before it. If `restart_at` is not after the start of
  // the match, the match begins again from its start.
  std::size_t undecided(Mask mask, std::size_t needed = UNLIMITED, std::size_t restart_at = 0) {
    undecided_classes = mask;
    min_more = needed;
    restart = restart_at;
    return UNDECIDED;
  }

  const Source source;
  const bool partial;
  Mask undecided_classes = 0;
  std::size_t min_more = UNLIMITED;
  std::size_t restart = 0;
  // The first code point of the match that is being tried.
  Element here{END, 0};
  // Memo of the last scan of white space: the start of the scan, the end of the run, and the
  // end of the last line break in the run. One memo serves all Spaces rules of a stage, because
  // read_stages (program.hpp) has checked that they share the classes of white space.
  std::size_t space_begin = 0;
  std::size_t space_end = 0;
  std::size_t newline_end = 0;
  // Memo of the last scan for a Groups rule, which divides a run into groups. The next group
  // begins at `group_at`. The run ends at `group_end`. `group_left` code points are in
  // [group_at, group_end).
  std::size_t group_end = 0;
  std::size_t group_left = 0;
  std::size_t group_at = 0;
};

} // namespace pretok
