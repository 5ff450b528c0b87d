// The texts that a machine splits: code points of 1, 2 or 4 bytes, or UTF-8. A position is the
// index of a code unit.
#pragma once

#include "core/unicode/class_table.hpp"
#include "core/unicode/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// A code point of a text: its class, and its width in code units.
struct Element {
  std::uint8_t class_;
  std::uint32_t width;
};

// A text in which each code unit is one code point. All code points are below CODE_POINTS.
template <typename Unit> class CodePoints {
public:
  CodePoints(const Unit *data, std::size_t size, const ClassTable &classes)
      : data_(data), size_(size), classes_(&classes) {}

  std::size_t size() const { return size_; }
  std::uint32_t code_point(std::size_t at) const { return data_[at]; }
  // `at` must be less than size().
  Element element(std::size_t at) const { return {class_of(data_[at]), 1}; }
  // Returns the start of the last code point in [start, end). The range must not be empty.
  std::size_t last_start(std::size_t, std::size_t end) const { return end - 1; }
  const Unit *data() const { return data_; }
  const ClassTable &classes() const { return *classes_; }

private:
  static bool is_latin1(Unit unit) { return sizeof(Unit) == 1 || unit < 0x100; }
  std::uint8_t class_of(Unit unit) const {
    return is_latin1(unit) ? classes_->latin1()[unit] : (*classes_)[unit];
  }

  const Unit *data_;
  std::size_t size_;
  const ClassTable *classes_;
};

// A text of bytes. A byte that is not UTF-8 counts as one code point (decode_utf8).
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
  // Returns the start of the last code point in [start, end). The range must not be empty. A
  // code point must start at `start`, and a code point must end at `end`.
  std::size_t last_start(std::size_t start, std::size_t end) const {
    return pretok::last_start(data_, start, end);
  }
  const std::uint8_t *data() const { return data_; }
  const ClassTable &classes() const { return *classes_; }

  Decoded decode(std::size_t at) const { return decode_utf8(data_ + at, size_ - at); }

private:
  const std::uint8_t *data_;
  std::size_t size_;
  const ClassTable *classes_;
};

// Returns the part of a text from `start` to `end`. Its elements have classes from `classes`.
template <typename Unit>
CodePoints<Unit> part_of(const CodePoints<Unit> &text, std::size_t start, std::size_t end,
                         const ClassTable &classes) {
  return {text.data() + start, end - start, classes};
}
inline Utf8 part_of(const Utf8 &text, std::size_t start, std::size_t end,
                    const ClassTable &classes) {
  return {text.data() + start, end - start, classes};
}

} // namespace pretok
