// Functions that several files with AVX-512 code share: masks of bytes, and checking UTF-8.
#pragma once

#include "core/base/instruction_set.hpp"

#if PRETOK_X86_KERNELS
#if !defined(__clang__)
// GCC 12 warns about undefined values in its own header, where they are intended.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define PRETOK_AVX512                                                                          \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

namespace pretok {
namespace avx512 {
namespace {

// Returns a mask of the first min(count, 64) bytes of a vector.
PRETOK_AVX512 inline __mmask64 first_64(std::size_t count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

// Returns the bytes 0, 1, ..., 63: the index of each byte of a vector.
PRETOK_AVX512 inline __m512i ascending_bytes() {
  return _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46,
                         45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28,
                         27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10,
                         9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

// Return a mask of the bytes that are equal to `byte`, or less than `byte` as unsigned values.
PRETOK_AVX512 inline __mmask64 equal(__m512i bytes, char byte) {
  return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte));
}
PRETOK_AVX512 inline __mmask64 less(__m512i bytes, char byte) {
  return _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(byte));
}

// Returns whether any sequence of three or four bytes is overlong, a surrogate, or above
// U+10FFFF. The caller has checked that every sequence has its continuation bytes. Byte i of
// `next` is the byte after byte i of `bytes`.
PRETOK_AVX512 inline bool out_of_range(__m512i bytes, __m512i next) {
  const __mmask64 below_a0 = less(next, '\xA0');
  const __mmask64 below_90 = less(next, '\x90');
  return ((equal(bytes, '\xE0') & below_a0) | (equal(bytes, '\xED') & ~below_a0) |
          (equal(bytes, '\xF0') & below_90) | (equal(bytes, '\xF4') & ~below_90)) != 0;
}

// The roles of 64 bytes in UTF-8, as bit masks.
struct Utf8Block {
  __mmask64 tails; // continuation bytes
  __mmask64 two;   // lead bytes of sequences of two or more bytes
  __mmask64 three; // lead bytes of sequences of three or more bytes
  __mmask64 four;  // lead bytes of sequences of four bytes

  // Sets the masks. Returns whether `bytes` is well-formed UTF-8 that begins with the start of
  // a code point. Its last sequence may end in `more`, the 64 bytes after `bytes`.
  PRETOK_AVX512 bool read(__m512i bytes, __m512i more) {
    // As signed numbers, exactly the continuation bytes are below 0xC0.
    const __m512i tail_top = _mm512_set1_epi8('\xC0');
    tails = _mm512_cmplt_epi8_mask(bytes, tail_top);
    two = _mm512_cmpge_epu8_mask(bytes, tail_top);
    three = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8('\xE0'));
    four = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8('\xF0'));
    const __mmask64 invalid = (two & _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8('\xC2'))) |
                              _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8('\xF5'));
    const std::uint64_t tails_across = _mm512_cmplt_epi8_mask(more, tail_top);
    if (invalid != 0 || tails != (two << 1 | three << 2 | four << 3) ||
        (across() & ~tails_across) != 0)
      return false;
    if (three == 0)
      return true;
    const __m512i next_four = _mm512_alignr_epi32(more, bytes, 1);
    const __m512i next =
        _mm512_or_si512(_mm512_srli_epi32(bytes, 8), _mm512_slli_epi32(next_four, 24));
    return !out_of_range(bytes, next);
  }

  // Returns a mask of the bytes of `more` that belong to the last code point of the block.
  std::uint64_t across() const { return two >> 63 | three >> 62 | four >> 61; }
};

} // namespace
} // namespace avx512
} // namespace pretok
#endif
