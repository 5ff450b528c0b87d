// Writes the code units of a str as UTF-8 with AVX2: 16 ASCII code units, or eight others, at a
// time.
#include "core/utf/write_utf8.hpp"

#include "core/simd/vector_kernels.hpp"

#if PRETOK_X86_KERNELS
#include <array>
#include <immintrin.h>

#define PRETOK_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace pretok {
namespace avx2 {
namespace {

constexpr std::size_t ASCII_AT_ONCE = 16;
constexpr std::size_t AT_ONCE = 8;

using Shuffle = std::array<std::uint8_t, 16>;

// Before a shuffle, a vector has the UTF-8 of each of four code units in 4 bytes, followed by
// unused bytes. SHUFFLES[i] removes the unused bytes. Bit j of i says that unit j takes at
// least two bytes. Bit 4 + j says that it takes three.
constexpr std::array<Shuffle, 256> make_shuffles() {
  std::array<Shuffle, 256> all{};
  for (unsigned i = 0; i < all.size(); ++i) {
    std::size_t count = 0;
    for (unsigned unit = 0; unit < 4; ++unit) {
      const unsigned width = 1 + (i >> unit & 1) + (i >> (4 + unit) & 1);
      for (unsigned byte = 0; byte < width; ++byte)
        all[i][count++] = static_cast<std::uint8_t>(4 * unit + byte);
    }
  }
  return all;
}
constexpr std::array<Shuffle, 256> SHUFFLES = make_shuffles();

PRETOK_TARGET inline __m256i load_units(const std::uint8_t *units) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(units)));
}
PRETOK_TARGET inline __m256i load_units(const std::uint16_t *units) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(units)));
}
PRETOK_TARGET inline __m256i load_units(const std::uint32_t *units) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(units));
}

// Writes the UTF-8 of four code units, and returns its number of bytes. Each unit has 4 bytes
// of `bytes`. `two` and `three` are masks of the units that take at least two bytes, and of
// those that take three.
PRETOK_TARGET inline unsigned write_four(__m128i bytes, unsigned two, unsigned three,
                                         std::uint8_t *to) {
  const Shuffle &shuffle = SHUFFLES[two | three << 4];
  const __m128i order = _mm_loadu_si128(reinterpret_cast<const __m128i *>(shuffle.data()));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_shuffle_epi8(bytes, order));
  return 4 + static_cast<unsigned>(_mm_popcnt_u32(two | three << 4));
}

// Returns whether any code unit is a surrogate or above U+FFFF.
PRETOK_TARGET inline bool needs_plain(__m256i units) {
  const __m256i top = _mm256_and_si256(units, _mm256_set1_epi32(~0x7FF));
  const __m256i is_surrogate = _mm256_cmpeq_epi32(top, _mm256_set1_epi32(0xD800));
  const __m256i is_large = _mm256_cmpgt_epi32(units, _mm256_set1_epi32(0xFFFF));
  return _mm256_movemask_epi8(_mm256_or_si256(is_surrogate, is_large)) != 0;
}

// Writes the other code units. Returns the end.
PRETOK_TARGET inline std::uint8_t *write_some(__m256i units, std::uint8_t *to) {
  const __m256i two_or_more = _mm256_cmpgt_epi32(units, _mm256_set1_epi32(0x7F));
  const __m256i three = _mm256_cmpgt_epi32(units, _mm256_set1_epi32(0x7FF));
  const __m256i low6 = _mm256_set1_epi32(0x3F);
  const __m256i last = _mm256_and_si256(units, low6);
  const __m256i middle = _mm256_srli_epi32(units, 6);
  // In each 32-bit element, the first byte of the UTF-8 sequence is the lowest byte.
  const __m256i of_two = _mm256_or_si256(_mm256_or_si256(middle, _mm256_slli_epi32(last, 8)),
                                         _mm256_set1_epi32(0x80C0));
  const __m256i of_three = _mm256_or_si256(
      _mm256_or_si256(_mm256_srli_epi32(units, 12),
                      _mm256_slli_epi32(_mm256_and_si256(middle, low6), 8)),
      _mm256_or_si256(_mm256_slli_epi32(last, 16), _mm256_set1_epi32(0x8080E0)));
  const __m256i bytes =
      _mm256_blendv_epi8(_mm256_blendv_epi8(units, of_two, two_or_more), of_three, three);
  const auto twos = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(two_or_more)));
  const auto threes = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(three)));
  to += write_four(_mm256_castsi256_si128(bytes), twos & 15, threes & 15, to);
  return to + write_four(_mm256_extracti128_si256(bytes, 1), twos >> 4, threes >> 4, to);
}

// If the next 16 code units are ASCII, write them to `to` and return true.
PRETOK_TARGET inline bool write_ascii(const std::uint8_t *units, std::uint8_t *to) {
  const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i *>(units));
  if (_mm_movemask_epi8(all) != 0)
    return false;
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), all);
  return true;
}
PRETOK_TARGET inline bool write_ascii(const std::uint16_t *units, std::uint8_t *to) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(units));
  if (_mm256_testz_si256(all, _mm256_set1_epi16(~0x7F)) == 0)
    return false;
  _mm_storeu_si128(
      reinterpret_cast<__m128i *>(to),
      _mm_packus_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
  return true;
}
PRETOK_TARGET inline bool write_ascii(const std::uint32_t *units, std::uint8_t *to) {
  const auto load = [units](std::size_t at) PRETOK_TARGET {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(units + at));
  };
  const __m256i low = load(0);
  const __m256i high = load(8);
  if (_mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi32(~0x7F)) == 0)
    return false;
  // packus_epi32 interleaves the halves of its operands; the permutation sorts them.
  const __m256i all = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xD8);
  _mm_storeu_si128(
      reinterpret_cast<__m128i *>(to),
      _mm_packus_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
  return true;
}

// write_four stores 16 bytes. The second store for eight units starts at most 12 bytes after
// the first.
constexpr std::size_t MAX_STORED = 28;

#include "core/utf/write_utf8.inc"

} // namespace avx2
} // namespace pretok
#undef PRETOK_TARGET
#endif
