#include "core/simd/vector_kernels.hpp"

#include "core/base/avx512.hpp"

#if PRETOK_X86_KERNELS
namespace pretok {
namespace avx512 {

// Looks up 64 pairs at once. The rows of the set are 16 tables of 128 bytes, which have eight
// rows each. Looks up each pair in each table, and then selects the result of the table with
// its row: each bit of the number of this table halves the results.
PRETOK_AVX512 std::size_t find_absent_pairs(const AsciiPairs &pairs, const std::uint8_t *bytes,
                                            std::size_t size, std::uint64_t *absent,
                                            std::uint64_t *beyond) {
  constexpr std::size_t TABLES = 16;
  const std::uint8_t *const rows = pairs.rows();
  const __m512i low_bits = _mm512_set1_epi8(0x0F);
  const __m512i powers = _mm512_broadcast_i32x4(
      _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, '\x80', 0, 0, 0, 0, 0, 0, 0, 0));
  std::size_t count_beyond = 0;
  for (std::size_t i = 0; i < size; i += 64) {
    const __mmask64 valid = first_64(size - i);
    const __m512i left = _mm512_maskz_loadu_epi8(valid, bytes + i - 1);
    const __m512i right = _mm512_maskz_loadu_epi8(valid, bytes + i);
    // The byte of a pair within its table: three bits of `left`, and four of `right`.
    const __m512i at = _mm512_ternarylogic_epi32(
        _mm512_set1_epi8(0x70), _mm512_slli_epi16(left, 4),
        _mm512_and_si512(_mm512_srli_epi16(right, 3), low_bits), 0xEA); // (a & b) | c
    __m512i found[TABLES];
    for (std::size_t t = 0; t < TABLES; ++t)
      found[t] = _mm512_permutex2var_epi8(_mm512_loadu_si512(rows + 128 * t), at,
                                          _mm512_loadu_si512(rows + 128 * t + 64));
    int number_bit = 8; // of `left`: the lowest bit of the number of its table
    for (std::size_t count = TABLES / 2; count != 0; count /= 2, number_bit *= 2) {
      const __mmask64 is_odd =
          _mm512_test_epi8_mask(left, _mm512_set1_epi8(static_cast<char>(number_bit)));
      for (std::size_t t = 0; t < count; ++t)
        found[t] = _mm512_mask_mov_epi8(found[2 * t], is_odd, found[2 * t + 1]);
    }
    const __m512i bit =
        _mm512_shuffle_epi8(powers, _mm512_and_si512(right, _mm512_set1_epi8(7)));
    const __mmask64 is_beyond = _mm512_movepi8_mask(right);
    const __mmask64 is_ascii = ~(is_beyond | _mm512_movepi8_mask(left));
    absent[i / 64] = _mm512_testn_epi8_mask(found[0], bit) & is_ascii & valid;
    beyond[i / 64] = is_beyond;
    count_beyond += static_cast<std::size_t>(_mm_popcnt_u64(is_beyond));
  }
  return count_beyond;
}

} // namespace avx512
} // namespace pretok
#endif
