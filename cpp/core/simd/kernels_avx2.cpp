// Kernels for AVX2: Haswell, Zen and later.
#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/simd/kernels_plain.hpp"

#if PRETOK_X86_KERNELS
#include <immintrin.h>

#define PRETOK_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace pretok {
namespace avx2 {
namespace {

using Vector = __m256i;
constexpr std::size_t WIDTH = sizeof(Vector);

PRETOK_TARGET inline Vector load(const void *from) {
  return _mm256_loadu_si256(static_cast<const Vector *>(from));
}
PRETOK_TARGET inline void store(std::uint8_t *to, Vector bytes) {
  _mm256_storeu_si256(reinterpret_cast<Vector *>(to), bytes);
}
PRETOK_TARGET inline Vector both(Vector a, Vector b) { return _mm256_and_si256(a, b); }

// Loads 16 bytes into both halves.
PRETOK_TARGET inline Vector load_twice(const void *from) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i *>(from)));
}

// The classes of ASCII, 16 in each part.
struct AsciiTable {
  Vector parts[8];
};
PRETOK_TARGET inline AsciiTable ascii_table(const std::uint8_t *classes) {
  AsciiTable table;
  for (int i = 0; i < 8; ++i)
    table.parts[i] = load_twice(classes + 16 * i);
  return table;
}
PRETOK_TARGET inline Vector look_up(const AsciiTable &table, Vector bytes) {
  Vector classes = _mm256_setzero_si256();
  for (int i = 0; i < 8; ++i) {
    // The XOR gives 0x00 to 0x0F for a byte of part i, and 0x10 or more for any other byte.
    // Adding 0x70 sets the highest bit of all other bytes, and the shuffle returns 0 for them.
    const Vector within = _mm256_xor_si256(bytes, _mm256_set1_epi8(static_cast<char>(i << 4)));
    classes = _mm256_or_si256(
        classes,
        _mm256_shuffle_epi8(table.parts[i], _mm256_adds_epu8(within, _mm256_set1_epi8(0x70))));
  }
  return classes;
}

// Loads WIDTH code units as bytes. If any code unit is not ASCII, the bytes are meaningless.
PRETOK_TARGET inline Vector narrow(const std::uint8_t *data, bool &is_ascii) {
  const Vector bytes = load(data);
  is_ascii = _mm256_movemask_epi8(bytes) == 0;
  return bytes;
}
PRETOK_TARGET inline Vector narrow(const std::uint16_t *data, bool &is_ascii) {
  const Vector low = load(data);
  const Vector high = load(data + 16);
  is_ascii = _mm256_testz_si256(_mm256_or_si256(low, high),
                                _mm256_set1_epi16(static_cast<short>(0xFF80))) != 0;
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
}
PRETOK_TARGET inline Vector narrow(const std::uint32_t *data, bool &is_ascii) {
  Vector parts[4];
  for (int i = 0; i < 4; ++i)
    parts[i] = load(data + 8 * i);
  const Vector any =
      _mm256_or_si256(_mm256_or_si256(parts[0], parts[1]), _mm256_or_si256(parts[2], parts[3]));
  is_ascii = _mm256_testz_si256(any, _mm256_set1_epi32(~0x7F)) != 0;
  const Vector mixed = _mm256_packus_epi16(_mm256_packs_epi32(parts[0], parts[1]),
                                           _mm256_packs_epi32(parts[2], parts[3]));
  return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// A table of 32 bytes, indexed by class.
struct PairTable {
  Vector low;
  Vector high;
};
PRETOK_TARGET inline PairTable pair_table(const std::uint8_t *bytes) {
  return {load_twice(bytes), load_twice(bytes + 16)};
}
// The shuffle uses the low four bits of an index, and returns 0 if its highest bit is set. The
// addition sets the highest bit of indices from 16 on, so `low` gives 0 for them. The
// subtraction sets the highest bit of indices below 16, so `high` gives 0 for them.
PRETOK_TARGET inline Vector look_up(const PairTable &table, Vector index) {
  return _mm256_or_si256(
      _mm256_shuffle_epi8(table.low, _mm256_add_epi8(index, _mm256_set1_epi8(0x70))),
      _mm256_shuffle_epi8(table.high, _mm256_sub_epi8(index, _mm256_set1_epi8(0x10))));
}

// Returns a mask of 32 bits: bit i is set if bytes[i] has none of the wanted bits. `bits` holds
// the wanted byte four times.
PRETOK_TARGET inline std::uint64_t none_of(const std::uint8_t *bytes, std::uint32_t bits) {
  const Vector part = both(load(bytes), _mm256_set1_epi32(static_cast<int>(bits)));
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(part, _mm256_setzero_si256())));
}
// Returns a mask of 64 bits: bit i is set if bytes[i] has any of the wanted bits. `bits` holds
// the wanted byte four times.
PRETOK_TARGET inline std::uint64_t any_of(const std::uint8_t *bytes, std::uint32_t bits) {
  return ~(none_of(bytes, bits) | none_of(bytes + 32, bits) << 32);
}

#include "core/simd/generic_count.inc"
#include "core/simd/generic_pairs.inc"
#include "core/simd/generic_text.inc"

} // namespace
} // namespace avx2

const Kernels AVX2_KERNELS = {"avx2",
                              InstructionSet::AVX2,
                              avx2::read_utf8,
                              avx2::read_code_points<std::uint8_t>,
                              avx2::read_code_points<std::uint16_t>,
                              avx2::read_code_points<std::uint32_t>,
                              avx2::classify_pairs,
                              plain_resolve_labels,
                              avx2::bits_to_positions,
                              avx2::count_bits};

} // namespace pretok
#undef PRETOK_TARGET
#endif
