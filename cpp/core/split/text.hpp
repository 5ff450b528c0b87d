// The text as the rules see it: classes at positions. pretok/charsets/classified_text.py is its
// twin.
//
// At its end every text has class END, which no mask contains.
#pragma once

#include "core/split/sources.hpp"
#include "core/unicode/classes.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

inline constexpr std::size_t NO_MATCH = static_cast<std::size_t>(-1);
// The text may go on, and how it goes on decides; `Text::open` says what would not.
inline constexpr std::size_t UNDECIDED = static_cast<std::size_t>(-2);
inline constexpr std::size_t UNLIMITED = static_cast<std::size_t>(-1) / 2;

template <typename Source> class Text {
public:
  Text(const Source &of, bool may_go_on) : source(of), partial(may_go_on) {}

  std::size_t size() const { return source.size(); }
  std::uint8_t class_at(std::size_t at) const {
    return at < size() ? source.element(at).class_ : END;
  }
  std::size_t next(std::size_t at) const { return at + source.element(at).width; }

  // Returns where the run of `set` from `at` on ends.
  std::size_t run_end(Mask set, std::size_t at) const {
    std::size_t ignored = 0;
    return run_end_noting(set, at, 0, ignored);
  }

  // As run_end, but for at most `count` code points; counts `count` down by those it took.
  std::size_t run_end_counting(Mask set, std::size_t at, std::size_t &count) const {
    for (; count != 0 && at < size(); --count) {
      const Element element = source.element(at);
      if (!has(set, element.class_))
        break;
      at += element.width;
    }
    return at;
  }

  // As run_end; sets `last` to the end of the run's last code point that is in `noted`, if any.
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

  // Says that what follows decides, but not fewer than `most` code points, all in `mask`. A
  // match that continues at `last_word` does not depend on the text before `last_word`.
  std::size_t undecided(Mask mask, std::size_t most = UNLIMITED, std::size_t last_word = 0) {
    undecided_classes = mask;
    min_more = most;
    restart = last_word;
    return UNDECIDED;
  }

  const Source source;
  const bool partial;
  Mask undecided_classes = 0;
  std::size_t min_more = UNLIMITED;
  std::size_t restart = 0;
  // The code point at the position where rules are tried.
  Element here{END, 0};
  // The white space scanned last: where the scan began, the end of the run, and the end of its
  // last line break. All Spaces rules of a stage share the classes of white space.
  std::size_t space_begin = 0;
  std::size_t space_end = 0;
  std::size_t newline_end = 0;
  // The run scanned last for groups: its end, and how many code points it has from where on.
  std::size_t group_end = 0;
  std::size_t group_left = 0;
  std::size_t group_at = 0;
};

} // namespace pretok
