// The text as the rules see it: classes at positions. pretok/text.py is its twin.
//
// A position is an index into the text's own units: bytes of UTF-8, or code points of 1, 2 or 4
// bytes. At its end every text has class END, which no mask contains.
#pragma once

#include "class_table.hpp"
#include "classes.hpp"
#include "utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

inline constexpr std::size_t NO_MATCH = static_cast<std::size_t>(-1);
// The text may go on, and how it goes on decides; `Scan::open` says what would not.
inline constexpr std::size_t UNDECIDED = static_cast<std::size_t>(-2);

// A code point as a text has it: its class, and how many units it takes.
struct Element {
  std::uint8_t class_;
  std::uint32_t width;
};

// A text whose units are code points below CODE_POINTS.
template <typename Unit> class CodePoints {
public:
  CodePoints(const Unit *data, std::size_t size, const ClassTable &classes)
      : data_(data), size_(size), classes_(&classes) {}

  std::size_t size() const { return size_; }
  std::uint32_t code_point(std::size_t at) const { return data_[at]; }
  // `at` must be less than size().
  Element element(std::size_t at) const {
    if constexpr (sizeof(Unit) == 1)
      return {classes_->latin1()[data_[at]], 1};
    else
      return {(*classes_)[data_[at]], 1};
  }
  // Where the code point that ends at `end` starts.
  std::size_t last_start(std::size_t end) const { return end - 1; }

private:
  const Unit *data_;
  std::size_t size_;
  const ClassTable *classes_;
};

// A text of bytes that hold UTF-8, or anything.
class Utf8 {
public:
  Utf8(const std::uint8_t *data, std::size_t size, const ClassTable &classes)
      : data_(data), size_(size), classes_(&classes) {}

  std::size_t size() const { return size_; }
  std::uint32_t code_point(std::size_t at) const { return decode(at).code_point; }
  Element element(std::size_t at) const {
    if (data_[at] < 0x80)
      return {classes_->latin1()[data_[at]], 1};
    const Decoded decoded = decode(at);
    return {(*classes_)[decoded.code_point], decoded.width};
  }
  // Where the code point that ends at `end` starts; it must be well-formed.
  std::size_t last_start(std::size_t end) const {
    do
      --end;
    while ((data_[end] & 0xC0) == 0x80);
    return end;
  }
  Decoded decode(std::size_t at) const { return decode_utf8(data_ + at, size_ - at); }

private:
  const std::uint8_t *data_;
  std::size_t size_;
  const ClassTable *classes_;
};

// A text being scanned, with what the rules remember of it.
template <typename Source> class Scan {
public:
  Scan(const Source &text, bool may_go_on) : source(text), partial(may_go_on) {}

  std::size_t size() const { return source.size(); }
  std::uint8_t class_at(std::size_t at) const {
    return at < size() ? source.element(at).class_ : END;
  }
  std::size_t next(std::size_t at) const { return at + source.element(at).width; }

  // Returns where the run of `mask` from `at` on ends.
  std::size_t run_end(Mask mask, std::size_t at) const {
    while (at < size()) {
      const Element element = source.element(at);
      if (!has(mask, element.class_))
        break;
      at += element.width;
    }
    return at;
  }

  // As run_end, but for at most `count` code points; counts `count` down by those it took.
  std::size_t run_end(Mask mask, std::size_t at, std::uint32_t &count) const {
    for (; count != 0 && at < size(); --count) {
      const Element element = source.element(at);
      if (!has(mask, element.class_))
        break;
      at += element.width;
    }
    return at;
  }

  // As run_end; sets `last` to the end of the run's last code point that is in `noted`, if any.
  std::size_t run_end_noting(Mask mask, std::size_t at, Mask noted, std::size_t &last) const {
    while (at < size()) {
      const Element element = source.element(at);
      if (!has(mask, element.class_))
        break;
      at += element.width;
      if (has(noted, element.class_))
        last = at;
    }
    return at;
  }

  // Says that what follows decides, but not while it is of the classes in `mask`.
  std::size_t undecided(Mask mask) {
    open = mask;
    return UNDECIDED;
  }

  const Source source;
  const bool partial;
  Mask open = 0;
  // The run of white space scanned last: its end, and the end of its last line break.
  std::size_t space_end = 0;
  std::size_t newline_end = 0;
};

} // namespace pretok
