#include "status.hpp"

#include "utf8.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace pretok {
namespace {

// Makes a message UTF-8: it may have bytes of others, and be cut in the middle of a sequence.
void mend_message(char *message) {
  auto *bytes = reinterpret_cast<std::uint8_t *>(message);
  std::size_t left = std::strlen(message);
  while (left != 0) {
    const Decoded decoded = decode_utf8(bytes, left);
    if (decoded.width == 1 && (*bytes >= 0x80 || *bytes < 0x20))
      *bytes = '?';
    bytes += decoded.width;
    left -= decoded.width;
  }
}

} // namespace

pretok_status fail_at(pretok_error *error, pretok_status status, std::size_t position,
                      const char *format, ...) noexcept {
  if (error == nullptr)
    return status;
  error->status = status;
  error->position = position;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  mend_message(error->message);
  return status;
}

} // namespace pretok
