// Reads the parts of a JSON text: strings with their escapes, and values to skip.
#pragma once

#include "core/corpus/json_string.hpp"

#include <cstddef>
#include <cstdint>
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

  // Reads any value that begins at this position, without white space before it.
  bool skip_value() { return skip_value(0); }

private:
  template <bool COPIES> bool read_string(std::uint8_t *text, std::size_t &size);
  bool skip_string();
  bool escape(std::uint32_t &code_point);
  bool unicode_escape(std::uint32_t &code_point);
  bool hexadecimal(std::uint32_t &number);
  bool skip_value(int depth);
  bool skip_container(int depth);
  bool skip_word(std::string_view word);
  bool skip_number();
  bool skip_digits();

  const std::uint8_t *at_;
  const std::uint8_t *end_;
  bool has_escape_ = false; // whether the last string had one
};

} // namespace pretok
