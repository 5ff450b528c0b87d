// UTF-8 to units of 16 bits, many bytes at a time.
#pragma once

#include "core/base/instruction_set.hpp"

#include <cstdint>

namespace pretok {

// Writes the code points of UTF-8, which ends at `end`, to `to`, 64 bytes at a time, and moves
// both: until `stop` is reached, and one further than that at most, or bytes come that are not
// well-formed, or of a code point beyond 16 bits.
using Widen = void (*)(const std::uint8_t *&at, const std::uint8_t *stop,
                       const std::uint8_t *end, std::uint16_t *&to);

// Returns what widens with these instructions; nullptr: nothing is faster than one by one.
Widen widen_with(InstructionSet instructions);

#if PRETOK_X86_KERNELS
void widen_avx512(const std::uint8_t *&at, const std::uint8_t *stop, const std::uint8_t *end,
                  std::uint16_t *&to);
#endif

} // namespace pretok
