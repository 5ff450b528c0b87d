// Decodes UTF-8 to 16-bit units, many bytes at a time.
#pragma once

#include "core/base/instruction_set.hpp"

#include <cstdint>

namespace pretok {

// Converts UTF-8 from `at` on to 16-bit units at `to`, 64 bytes at a time, and advances `at`
// and `to`. Stops at the first block boundary from `stop` on, before an ill-formed sequence, or
// before a code point above U+FFFF. The text ends at `end`.
using Widen = void (*)(const std::uint8_t *&at, const std::uint8_t *stop,
                       const std::uint8_t *end, std::uint16_t *&to);

// Returns the Widen function for these instructions, or nullptr if a loop over bytes is as
// fast.
Widen widen_with(InstructionSet instructions);

#if PRETOK_X86_KERNELS
void widen_avx512(const std::uint8_t *&at, const std::uint8_t *stop, const std::uint8_t *end,
                  std::uint16_t *&to);
#endif

} // namespace pretok
