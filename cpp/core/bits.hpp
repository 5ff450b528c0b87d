// Bits, and whether there is SSE2.
#pragma once

#include <cstdint>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define PRETOK_SSE2 1
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace pretok {

// Position of the lowest bit that is set; `word` must not be 0.
inline unsigned lowest_bit(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long at;
  _BitScanForward64(&at, word);
  return at;
#else
  return static_cast<unsigned>(__builtin_ctzll(word));
#endif
}

// Position of the highest bit that is set; `word` must not be 0.
inline unsigned highest_bit(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long at;
  _BitScanReverse64(&at, word);
  return at;
#else
  return 63U - static_cast<unsigned>(__builtin_clzll(word));
#endif
}

// The highest bit of `word` alone, or 0.
inline std::uint64_t highest(std::uint64_t word) {
  return word == 0 ? 0 : std::uint64_t{1} << highest_bit(word);
}

} // namespace pretok
