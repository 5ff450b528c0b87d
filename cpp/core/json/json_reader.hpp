// Reads the parts of a JSON text: strings with their escapes, and values to skip.
#pragma once

#include "core/json/json_string.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pretok {

// A position in a JSON text, which must be UTF-8 (utf8_check.hpp). Each method reads the next
// part of the text, and moves after it. Returns false if the part is not valid JSON, or if
// parsers treat it differently: lone surrogates, deep nesting, and very long numbers. After
// false, the position is unspecified.
class JsonReader {
public:
  explicit JsonReader(std::string_view text)
      : at_(reinterpret_cast<const std::uint8_t *>(text.data())), end_(at_ + text.size()) {}

  bool is_at_end() const { return at_ == end_; }
  const char *at() const { return reinterpret_cast<const char *>(at_); }
  // Returns the bytes from `start`, an earlier at(), to at().
  std::string_view since(const char *start) const {
    return {start, static_cast<std::size_t>(at() - start)};
  }

  bool skip(char byte) {
    if (at_ == end_ || *at_ != static_cast<std::uint8_t>(byte))
      return false;
    ++at_;
    return true;
  }

  void skip_space() {
    if (at_ != end_ && *at_ > ' ')
      return;
    // Files often indent each line by many spaces.
    constexpr std::string_view SPACES = "        ";
    while (end_ - at_ >= static_cast<std::ptrdiff_t>(SPACES.size()) &&
           std::memcmp(at_, SPACES.data(), SPACES.size()) == 0)
      at_ += SPACES.size();
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n'))
      ++at_;
  }

  // Reads a string. Sets `text` to the bytes between its quotes, and `has_escape` to whether
  // escapes are among them.
  bool string(std::string_view &text, bool &has_escape);
  // Reads a string. Writes it without escapes to `text`, and sets `size`. `text` has room for
  // the bytes between the quotes, and for COPY_ROOM bytes more.
  bool copy_string(std::uint8_t *text, std::size_t &size);
  static constexpr std::size_t COPY_ROOM = JSON_COPY_ROOM;
  bool skip_string();

  // Reads a whole number of at most nine digits. If there is any other value at this position,
  // does not move.
  bool short_number(std::uint32_t &number);

  // Reads a value that begins at this position, without white space before it.
  bool skip_value();
  // Does the same, and calls these methods of `visitor` for the value and all values in it:
  //   bool string(JsonReader &)           reads a string: the name of a member, or a value
  //   void scalar(std::string_view)       gets the text of a number, true, false or null
  //   bool container(JsonReader &, int)   reads a list or object, by read_container(*this,
  //   depth)
  //                                       or otherwise; the int is the depth
  //   size_t open(const char *)           gets the position of the bracket of a container
  //   void close(size_t)                  gets the result of `open` for the same container
  template <typename Visitor> bool read_value(Visitor &visitor, int depth = 0);
  template <typename Visitor> bool read_container(Visitor &visitor, int depth);

private:
  bool skip_scalar();
  template <bool COPIES> bool read_string(std::uint8_t *text, std::size_t &size);
  bool escape(std::uint32_t &code_point);
  bool unicode_escape(std::uint32_t &code_point);
  bool hexadecimal(std::uint32_t &number);
  bool skip_word(std::string_view word);
  bool skip_number();
  bool skip_digits();

  const std::uint8_t *at_;
  const std::uint8_t *end_;
  bool has_escape_ = false; // whether the last string had one
};

template <typename Visitor> bool JsonReader::read_value(Visitor &visitor, int depth) {
  constexpr int MAX_DEPTH = 64; // of lists and objects around a value
  if (is_at_end() || depth > MAX_DEPTH)
    return false;
  if (*at_ == '"')
    return visitor.string(*this);
  if (*at_ == '{' || *at_ == '[')
    return visitor.container(*this, depth);
  const char *const start = at();
  if (!skip_scalar())
    return false;
  visitor.scalar(since(start));
  return true;
}

template <typename Visitor> bool JsonReader::read_container(Visitor &visitor, int depth) {
  const bool is_object = *at_ == '{';
  const char closing = is_object ? '}' : ']';
  const std::size_t opened = visitor.open(at());
  ++at_;
  skip_space();
  if (!skip(closing)) {
    do {
      skip_space();
      if (is_object) {
        if (!visitor.string(*this))
          return false;
        skip_space();
        if (!skip(':'))
          return false;
        skip_space();
      }
      if (!read_value(visitor, depth + 1))
        return false;
      skip_space();
    } while (skip(','));
    if (!skip(closing))
      return false;
  }
  visitor.close(opened);
  return true;
}

} // namespace pretok
