// Decodes UTF-8 to 16-bit code units, many bytes at a time.
#pragma once

#include "core/base/instruction_set.hpp"

#include <cstdint>

namespace pretok {

// Decodes blocks of 64 bytes of UTF-8 from `at` on, and writes the code points to `to` as
// 16-bit units. Advances `at` and `to`. There must be room for 64 units per block. A sequence
// that begins in a block belongs to this block. The text ends at `end`. Stops in three cases:
//   - `at` has reached or passed `stop`;
//   - fewer than 64 bytes remain before `end`;
//   - the next block has an ill-formed sequence or a code point above U+FFFF.
using Widen = void (*)(const std::uint8_t *&at, const std::uint8_t *stop,
                       const std::uint8_t *end, std::uint16_t *&to);

// Returns the Widen function for an instruction set. Returns nullptr if there is none, because
// such a function would be no faster than read_utf8.
Widen widen_with(InstructionSet instructions);

#if PRETOK_X86_KERNELS
void widen_avx512(const std::uint8_t *&at, const std::uint8_t *stop, const std::uint8_t *end,
                  std::uint16_t *&to);
#endif

} // namespace pretok
