// Bit operations and byte order. Defines PRETOK_SSE2 if the build may use SSE2.
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

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
inline constexpr bool LITTLE_ENDIAN_BYTES = true;
#else
inline constexpr bool LITTLE_ENDIAN_BYTES = false;
#endif

// Returns the index of the lowest 1 bit, counted from 0. `word` must not be 0.
inline unsigned lowest_bit(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long at;
  _BitScanForward64(&at, word);
  return at;
#else
  return static_cast<unsigned>(__builtin_ctzll(word));
#endif
}

// Returns the index of the highest 1 bit, counted from 0. `word` must not be 0.
inline unsigned highest_bit(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long at;
  _BitScanReverse64(&at, word);
  return at;
#else
  return 63U - static_cast<unsigned>(__builtin_clzll(word));
#endif
}

// Returns the number of 1 bits.
inline unsigned count_ones(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
  // Count the ones in each group of 2, then 4, then 8 bits. The product adds all eight counts
  // in its top byte.
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return static_cast<unsigned>(word * 0x0101010101010101 >> 56);
#else
  return static_cast<unsigned>(__builtin_popcountll(word));
#endif
}

// A 128-bit product.
struct WideProduct {
  std::uint64_t low;
  std::uint64_t high;
};

// Returns a * b with all 128 bits.
inline WideProduct multiply_wide(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
#else
  const std::uint64_t a0 = a & 0xFFFFFFFF;
  const std::uint64_t a1 = a >> 32;
  const std::uint64_t b0 = b & 0xFFFFFFFF;
  const std::uint64_t b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const std::uint64_t carried = a0 * b1 + (middle & 0xFFFFFFFF);
  return {a * b, a1 * b1 + (middle >> 32) + (carried >> 32)};
#endif
}

// Returns `word` with only its highest 1 bit. Returns 0 if `word` is 0.
inline std::uint64_t highest(std::uint64_t word) {
  return word == 0 ? 0 : std::uint64_t{1} << highest_bit(word);
}

#if PRETOK_SSE2
// Compares four signed 32-bit numbers of `a` with the four of `b`. Returns the lower number at
// each of the four positions. SSE2 has no instruction for this minimum.
inline __m128i least_sse2(__m128i a, __m128i b) {
  const __m128i less = _mm_cmplt_epi32(b, a);
  return _mm_or_si128(_mm_and_si128(less, b), _mm_andnot_si128(less, a));
}

// Returns the lowest of four signed 32-bit numbers, in all four positions.
inline __m128i least_of_four_sse2(__m128i numbers) {
  numbers = least_sse2(numbers, _mm_shuffle_epi32(numbers, 0x4E));
  return least_sse2(numbers, _mm_shuffle_epi32(numbers, 0xB1));
}
#endif

} // namespace pretok
