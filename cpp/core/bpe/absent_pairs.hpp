// Looks up pairs of neighboring characters in an AsciiPairs, 64 at once.
#pragma once

#include "core/base/ascii_pairs.hpp"
#include "core/base/instruction_set.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

#if PRETOK_X86_KERNELS
// Looks up each of `size` bytes and the byte before it in a set of pairs. Also reads bytes[-1].
// Bit i of `absent` says whether both bytes of pair i are ASCII and the set lacks the pair. Bit
// i of `beyond` says whether bytes[i] is not ASCII. Fills whole words of 64 bits; bits from
// `size` on are 0. Returns the number of 1 bits of `beyond`.
std::size_t find_absent_pairs_avx512(const AsciiPairs &pairs, const std::uint8_t *bytes,
                                     std::size_t size, std::uint64_t *absent,
                                     std::uint64_t *beyond);
#endif

} // namespace pretok
