// LoadErrors, and their messages.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace pretok {

// The result of loading a file: an error, or NONE.
struct LoadError {
  enum Kind {
    NONE,
    MALFORMED,
    UNSUPPORTED,
    NO_SPLIT,     // neither the file nor the caller says how to split text
    REMOVES_TEXT, // the split drops text, but ids must decode to the whole text
    UNKNOWN_NAME, // no preset or Unicode version has this name
    INVALID_ARGUMENT
  } kind = NONE;
  std::string message; // "expected X, got Y; do Z"

  explicit operator bool() const { return kind != NONE; }
};

// A part of a message: a text or a whole number. Needs no destructor, so that the many callers
// of the functions below stay small.
class MessagePart {
public:
  MessagePart(std::string_view text) : text_(text) {}
  MessagePart(const char *text) : text_(text) {}
  MessagePart(const std::string &text) : text_(text) {}
  template <typename Number, typename = std::enable_if_t<std::is_integral_v<Number>>>
  MessagePart(Number number)
      : number_(static_cast<std::uint64_t>(number)),
        kind_(std::is_signed_v<Number> ? SIGNED : UNSIGNED) {}

  void append_to(std::string &message) const;

private:
  std::string_view text_;
  std::uint64_t number_ = 0;
  enum { TEXT, SIGNED, UNSIGNED } kind_ = TEXT;
};

// Returns an error with the parts as its message.
LoadError load_error(LoadError::Kind kind, std::initializer_list<MessagePart> parts);

template <typename... Parts> LoadError malformed(const Parts &...parts) {
  return load_error(LoadError::MALFORMED, {parts...});
}
template <typename... Parts> LoadError unsupported(const Parts &...parts) {
  return load_error(LoadError::UNSUPPORTED, {parts...});
}
template <typename... Parts> LoadError invalid_argument(const Parts &...parts) {
  return load_error(LoadError::INVALID_ARGUMENT, {parts...});
}

// Returns `text` in quotes. Escapes quotes, backslashes, and all bytes other than printable
// ASCII. Truncates long text.
std::string quote(std::string_view text);

} // namespace pretok
