// Copies parts of JSON strings with vector instructions.
#pragma once

#include "core/base/instruction_set.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// The positions of a copy: the next byte to read, and where to write.
struct JsonCopy {
  const std::uint8_t *from;
  std::uint8_t *to;
};

// The number of bytes after the copy that copy_json_avx512 may overwrite.
constexpr std::size_t JSON_COPY_ROOM = 64;

#if PRETOK_X86_KERNELS
// Copies the bytes of a JSON string from `copy.from` on, and replaces escapes of one letter
// such as \n. Stops at the first other byte that does not stand for itself: the quote at the
// end, a control, or the backslash of another escape. Also stops when fewer than 64 bytes are
// left before `end`.
JsonCopy copy_json_avx512(JsonCopy copy, const std::uint8_t *end);
#endif

} // namespace pretok
