// Writes the code units of a str as UTF-8 with AVX-512: 32 ASCII code units, or 16 others, at a
// time.
#include "core/utf/write_utf8.hpp"

#include "core/base/avx512.hpp"
#include "core/simd/vector_kernels.hpp"

#if PRETOK_X86_KERNELS

#define PRETOK_TARGET PRETOK_AVX512

namespace pretok {
namespace avx512 {
namespace {

constexpr std::size_t ASCII_AT_ONCE = 32;
constexpr std::size_t AT_ONCE = 16;
constexpr std::size_t MAX_STORED = 64;

// Load 16 code units, each into 32 bits.
PRETOK_AVX512 inline __m512i load_units(const std::uint8_t *units) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(units)));
}
PRETOK_AVX512 inline __m512i load_units(const std::uint16_t *units) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(units)));
}
PRETOK_AVX512 inline __m512i load_units(const std::uint32_t *units) {
  return _mm512_loadu_si512(units);
}

// If the next 32 code units are ASCII, write them to `to` and return true.
PRETOK_AVX512 inline bool write_ascii(const std::uint8_t *units, std::uint8_t *to) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(units));
  if (_mm256_movemask_epi8(all) != 0)
    return false;
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), all);
  return true;
}
PRETOK_AVX512 inline bool write_ascii(const std::uint16_t *units, std::uint8_t *to) {
  const __m512i all = _mm512_loadu_si512(units);
  if (_mm512_test_epi16_mask(all, _mm512_set1_epi16(~0x7F)) != 0)
    return false;
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_cvtepi16_epi8(all));
  return true;
}
PRETOK_AVX512 inline bool write_ascii(const std::uint32_t *units, std::uint8_t *to) {
  const __m512i low = _mm512_loadu_si512(units);
  const __m512i high = _mm512_loadu_si512(units + AT_ONCE);
  if (_mm512_test_epi32_mask(_mm512_or_si512(low, high), _mm512_set1_epi32(~0x7F)) != 0)
    return false;
  auto *const halves = reinterpret_cast<__m128i *>(to);
  _mm_storeu_si128(halves, _mm512_cvtepi32_epi8(low));
  _mm_storeu_si128(halves + 1, _mm512_cvtepi32_epi8(high));
  return true;
}

// Returns bits `down` to `down` + 5 of each code unit, shifted left by `up`: the payload of a
// continuation byte, in its place.
PRETOK_AVX512 inline __m512i six_bits(__m512i units, unsigned down, unsigned up) {
  return _mm512_slli_epi32(
      _mm512_and_si512(_mm512_srli_epi32(units, down), _mm512_set1_epi32(0x3F)), up);
}

// Returns whether any code unit is a surrogate.
PRETOK_AVX512 inline bool needs_plain(__m512i units) {
  const __m512i top = _mm512_and_si512(units, _mm512_set1_epi32(~0x7FF));
  return _mm512_cmpeq_epi32_mask(top, _mm512_set1_epi32(0xD800)) != 0;
}

// Writes the other code units. Returns the end of the UTF-8. Without a branch: in most scripts,
// the lengths of the sequences alternate.
PRETOK_AVX512 inline std::uint8_t *write_some(__m512i units, std::uint8_t *to) {
  // In each 32-bit element, the first byte of the UTF-8 sequence is the lowest byte.
  const __mmask16 two_or_more = _mm512_cmpgt_epi32_mask(units, _mm512_set1_epi32(0x7F));
  const __mmask16 three_or_more = _mm512_cmpgt_epi32_mask(units, _mm512_set1_epi32(0x7FF));
  const __mmask16 four = _mm512_cmpgt_epi32_mask(units, _mm512_set1_epi32(0xFFFF));
  const __m512i of_two =
      _mm512_or_si512(_mm512_or_si512(_mm512_srli_epi32(units, 6), six_bits(units, 0, 8)),
                      _mm512_set1_epi32(0x80C0));
  const __m512i of_three =
      _mm512_or_si512(_mm512_or_si512(_mm512_srli_epi32(units, 12), six_bits(units, 6, 8)),
                      _mm512_or_si512(six_bits(units, 0, 16), _mm512_set1_epi32(0x8080E0)));
  __m512i bytes = _mm512_mask_mov_epi32(units, two_or_more, of_two);
  bytes = _mm512_mask_mov_epi32(bytes, three_or_more, of_three);
  if (four != 0) {
    const __m512i of_four = _mm512_or_si512(
        _mm512_or_si512(_mm512_or_si512(_mm512_srli_epi32(units, 18), six_bits(units, 12, 8)),
                        _mm512_or_si512(six_bits(units, 6, 16), six_bits(units, 0, 24))),
        _mm512_set1_epi32(static_cast<int>(0x808080F0)));
    bytes = _mm512_mask_mov_epi32(bytes, four, of_four);
  }
  // Every byte of a sequence differs from 0, but for the only byte of U+0000.
  constexpr __mmask64 FIRST_BYTES = 0x1111111111111111;
  const __mmask64 used = _mm512_test_epi8_mask(bytes, bytes) | FIRST_BYTES;
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(used, bytes));
  return to + _mm_popcnt_u64(used);
}

#include "core/utf/write_utf8.inc"

} // namespace avx512
} // namespace pretok
#undef PRETOK_TARGET
#endif
