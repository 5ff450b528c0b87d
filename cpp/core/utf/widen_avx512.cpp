// Decodes UTF-8 to 16-bit units with AVX-512.
#include "core/simd/vector_kernels.hpp"

#include "core/base/avx512.hpp"

#if PRETOK_X86_KERNELS
namespace pretok {
namespace avx512 {
namespace {

// Writes the code points that start in half a block, and returns their number. `first` has the
// 32 bytes of the half block. `second` has, at index i, the byte after byte i of `first`;
// `third` has the byte after that. `two` and `three` are masks of the lead bytes of sequences
// of at least two bytes, and of at least three. `starts` is a mask of the bytes that are not
// continuation bytes.
PRETOK_AVX512 inline std::size_t widen_half(__m256i first, __m256i second, __m256i third,
                                            __mmask32 two, __mmask32 three, __mmask32 starts,
                                            std::uint16_t *to) {
  const __m512i low = _mm512_set1_epi16(0x3F);
  const __m512i a = _mm512_cvtepu8_epi16(first);
  const __m512i b = _mm512_and_si512(_mm512_cvtepu8_epi16(second), low);
  const __m512i c = _mm512_and_si512(_mm512_cvtepu8_epi16(third), low);
  const __m512i of_two =
      _mm512_or_si512(_mm512_slli_epi16(_mm512_and_si512(a, _mm512_set1_epi16(0x1F)), 6), b);
  // The shift moves the high half of the lead byte out of 16 bits.
  const __m512i of_three =
      _mm512_or_si512(_mm512_or_si512(_mm512_slli_epi16(a, 12), _mm512_slli_epi16(b, 6)), c);
  const __m512i all =
      _mm512_mask_mov_epi16(_mm512_mask_mov_epi16(a, two, of_two), three, of_three);
  const auto count = static_cast<std::size_t>(_mm_popcnt_u32(starts));
  _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(_bzhi_u64(0xFFFFFFFF, count)),
                           _mm512_maskz_compress_epi16(starts, all));
  return count;
}

} // namespace

PRETOK_AVX512 void widen(const std::uint8_t *&at, const std::uint8_t *stop,
                         const std::uint8_t *end, std::uint16_t *&to) {
  const __m512i next = _mm512_add_epi8(ascending_bytes(), _mm512_set1_epi8(1));
  const __m512i one_further = _mm512_add_epi8(ascending_bytes(), _mm512_set1_epi8(2));
  while (at < stop && end - at >= 64) {
    const __m512i bytes = _mm512_loadu_si512(at);
    if (_mm512_movepi8_mask(bytes) == 0) {
      _mm512_storeu_si512(to, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(bytes)));
      _mm512_storeu_si512(to + 32, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(bytes, 1)));
      at += 64;
      to += 64;
      continue;
    }
    const __m512i more =
        _mm512_maskz_loadu_epi8(first_64(static_cast<std::size_t>(end - at) - 64), at + 64);
    Utf8Block block;
    if (!block.read(bytes, more) || block.four != 0)
      return;
    const __m512i second = _mm512_permutex2var_epi8(bytes, next, more);
    const __m512i third = _mm512_permutex2var_epi8(bytes, one_further, more);
    const __mmask64 starts = ~block.tails;
    to += widen_half(_mm512_castsi512_si256(bytes), _mm512_castsi512_si256(second),
                     _mm512_castsi512_si256(third), static_cast<__mmask32>(block.two),
                     static_cast<__mmask32>(block.three), static_cast<__mmask32>(starts), to);
    to += widen_half(
        _mm512_extracti64x4_epi64(bytes, 1), _mm512_extracti64x4_epi64(second, 1),
        _mm512_extracti64x4_epi64(third, 1), static_cast<__mmask32>(block.two >> 32),
        static_cast<__mmask32>(block.three >> 32), static_cast<__mmask32>(starts >> 32), to);
    at += 64 + _mm_popcnt_u64(block.across());
  }
}

} // namespace avx512
} // namespace pretok
#endif
