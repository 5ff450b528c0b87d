// Kernels for AVX2: Haswell, Zen and later.
#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/simd/kernels_plain.hpp"
#include "core/simd/vector_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstring>

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
  // Looks up the low four bits of each byte in every part. Then bits 4, 5 and 6 of the byte
  // select one of the parts. A blend tests the highest bit of each byte.
  const auto part = [&](int i)
                        PRETOK_TARGET { return _mm256_shuffle_epi8(table.parts[i], bytes); };
  const Vector bit4 = _mm256_slli_epi16(bytes, 3);
  const Vector bit5 = _mm256_slli_epi16(bytes, 2);
  const Vector bit6 = _mm256_slli_epi16(bytes, 1);
  const auto two = [&](int i)
                       PRETOK_TARGET { return _mm256_blendv_epi8(part(i), part(i + 1), bit4); };
  return _mm256_blendv_epi8(_mm256_blendv_epi8(two(0), two(2), bit5),
                            _mm256_blendv_epi8(two(4), two(6), bit5), bit6);
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

// A table of 32 bytes for pairs of neighboring classes, indexed by one class of the pair. Each
// half is there twice, because the shuffle reads 16 bytes.
struct PairTable {
  Vector low;    // the bytes from index 0 to 15
  Vector change; // the bytes from index 16 on, exclusive or `low`
};
PRETOK_TARGET inline PairTable pair_table(const std::uint8_t *bytes) {
  const Vector low = load_twice(bytes);
  return {low, _mm256_xor_si256(low, load_twice(bytes + 16))};
}
// The shuffle uses the low four bits of an index, and returns 0 if its highest bit is set. The
// subtraction sets the highest bit of indices below 16, so `change` gives 0 for them.
PRETOK_TARGET inline Vector look_up(const PairTable &table, Vector index) {
  return _mm256_xor_si256(
      _mm256_shuffle_epi8(table.low, index),
      _mm256_shuffle_epi8(table.change, _mm256_sub_epi8(index, _mm256_set1_epi8(0x10))));
}

// Returns a mask of 32 bits: bit i is set if bytes[i] has none of the wanted bits. `bits`
// is the byte of wanted bits, repeated four times.
PRETOK_TARGET inline std::uint64_t none_of(const std::uint8_t *bytes, std::uint32_t bits) {
  const Vector part = both(load(bytes), _mm256_set1_epi32(static_cast<int>(bits)));
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(part, _mm256_setzero_si256())));
}
// Returns a mask of 64 bits: bit i is set if bytes[i] has any of the wanted bits. `bits`
// is the byte of wanted bits, repeated four times.
PRETOK_TARGET inline std::uint64_t any_of(const std::uint8_t *bytes, std::uint32_t bits) {
  return ~(none_of(bytes, bits) | none_of(bytes + 32, bits) << 32);
}

#include "core/simd/generic_count.inc"
PRETOK_TARGET inline std::uint32_t bits_of(Vector bytes) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}
PRETOK_TARGET inline Vector repeated(int byte) {
  return _mm256_set1_epi8(static_cast<char>(byte));
}
// Shifts each byte, and keeps the bits of `mask`.
template <int BITS> PRETOK_TARGET inline Vector left(Vector bytes, int mask) {
  return both(_mm256_slli_epi16(bytes, BITS), repeated(mask));
}
template <int BITS> PRETOK_TARGET inline Vector right(Vector bytes, int mask) {
  return both(_mm256_srli_epi16(bytes, BITS), repeated(mask));
}

// Computes a code point at each of WIDTH bytes, even where no sequence starts. Then looks up
// the classes of the code points at the bytes where a sequence starts. If one of the bytes is
// not UTF-8 or belongs to a sequence of four bytes, or if fewer than WIDTH + 2 bytes are left,
// calls append_utf8 instead, which reads any text.
PRETOK_TARGET void append_mixed(const ClassTable &table, const std::uint8_t *data,
                                std::size_t size, std::size_t &at, std::size_t until,
                                ClassBuffer &buffer, std::size_t &filled) {
  const auto append_plain = [&] { append_utf8(table, data, size, at, until, buffer, filled); };
  if (size - at < WIDTH + 2)
    return append_plain();
  const Vector first = load(data + at);
  const Vector second = load(data + at + 1);
  const Vector third = load(data + at + 2);
  const auto is_tail = [](Vector bytes) PRETOK_TARGET {
    return bits_of(_mm256_cmpeq_epi8(both(bytes, repeated(0xC0)), repeated(0x80)));
  };
  const Vector top = both(first, repeated(0xF0));
  const Vector begins_three = _mm256_cmpeq_epi8(top, repeated(0xE0));
  // The bytes 0xC2 to 0xDF. The comparisons are signed, so these bytes are negative.
  const Vector begins_two =
      both(_mm256_cmpgt_epi8(first, repeated(0xC1)), _mm256_cmpgt_epi8(repeated(0xE0), first));
  const std::uint32_t tails = is_tail(first);
  const std::uint32_t three = bits_of(begins_three);
  const std::uint32_t two_or_three = bits_of(begins_two) | three;
  const std::uint64_t wanted_tails = std::uint64_t{two_or_three} << 1 | std::uint64_t{three}
                                                                            << 2;
  // The high and low byte of the code point at each byte.
  const Vector high_of_three = _mm256_or_si256(left<4>(first, 0xF0), right<2>(second, 0x0F));
  const Vector low_of_three =
      _mm256_or_si256(left<6>(second, 0xC0), both(third, repeated(0x3F)));
  const Vector high_of_two = both(right<2>(first, 0x07), begins_two);
  const Vector low_of_two = _mm256_or_si256(left<6>(first, 0xC0), both(second, repeated(0x3F)));
  // Code points below U+0800 take fewer bytes, and U+D800 to U+DFFF are surrogates.
  const Vector high5 = both(high_of_three, repeated(0xF8));
  const std::uint32_t not_three =
      bits_of(_mm256_or_si256(_mm256_cmpeq_epi8(high5, _mm256_setzero_si256()),
                              _mm256_cmpeq_epi8(high5, repeated(0xD8))));
  const std::uint32_t other = bits_of(first) & ~(tails | two_or_three);
  if ((other | (three & not_three) | (two_or_three & ~is_tail(second)) |
       (three & ~is_tail(third)) | (tails ^ static_cast<std::uint32_t>(wanted_tails))) != 0)
    return append_plain();
  const Vector high = _mm256_blendv_epi8(high_of_two, high_of_three, begins_three);
  const Vector low = _mm256_blendv_epi8(_mm256_blendv_epi8(first, low_of_two, begins_two),
                                        low_of_three, begins_three);
  alignas(WIDTH) std::uint16_t code_points[WIDTH];
  const Vector outer = _mm256_unpacklo_epi8(low, high); // of bytes 0 to 7 and 16 to 23
  const Vector inner = _mm256_unpackhi_epi8(low, high);
  _mm256_store_si256(reinterpret_cast<Vector *>(code_points),
                     _mm256_permute2x128_si256(outer, inner, 0x20));
  _mm256_store_si256(reinterpret_cast<Vector *>(code_points + 16),
                     _mm256_permute2x128_si256(outer, inner, 0x31));
  if (buffer.one_unit_each)
    buffer.start_offsets(filled);
  const ClassLookup class_of(table);
  std::uint8_t *const classes = buffer.classes() + filled;
  std::uint16_t *const offsets = buffer.offsets() + filled;
  constexpr std::uint32_t TOP_BIT = std::uint32_t{1} << 31;
  std::uint32_t starts = ~tails;
  const std::size_t count = count_ones(starts);
  // Writes four entries per step without a branch, so up to three entries after `count`. A
  // later call overwrites them. TOP_BIT keeps lowest_bit defined when no start is left.
  for (std::size_t done = 0; done < count; done += 4)
    for (std::size_t i = done; i < done + 4; ++i) {
      const unsigned start = lowest_bit(starts | TOP_BIT);
      starts &= starts - 1;
      classes[i] = class_of[code_points[start]];
      offsets[i] = static_cast<std::uint16_t>(at + start);
    }
  filled += count;
  at += WIDTH + count_ones(wanted_tails >> WIDTH);
}

// Bit i of the result is the top bit of bytes[i].
PRETOK_TARGET inline std::uint64_t top_bits(const std::uint8_t *bytes) {
  return bits_of(load(bytes)) | std::uint64_t{bits_of(load(bytes + 32))} << 32;
}

// Not lowest_bit: GCC 12 would branch if the word is 0.
PRETOK_TARGET inline std::uint64_t first_bit(std::uint64_t word) { return _tzcnt_u64(word); }

#include "core/simd/generic_absent_pairs.inc"
#include "core/simd/generic_code_points.inc"
using Words = __m256i;
constexpr std::size_t WORDS = 4;

PRETOK_TARGET inline Words repeated_word(std::uint64_t word) {
  return _mm256_set1_epi64x(static_cast<long long>(word));
}
// Shifts four words left by one bit, as one number of 256 bits. The lowest bit of the result is
// the top bit of `last`.
PRETOK_TARGET inline Words shift(Words words, Words last) {
  // The word before each word; before the first word, the last word of `last`.
  const Words before = _mm256_blend_epi32(_mm256_permute4x64_epi64(words, 0x93),
                                          _mm256_permute4x64_epi64(last, 0x93), 0x03);
  return _mm256_or_si256(_mm256_add_epi64(words, words), _mm256_srli_epi64(before, 63));
}

#include "core/simd/generic_labels.inc"
#include "core/simd/generic_pairs.inc"
#include "core/simd/generic_positions.inc"
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
                              avx2::resolve_labels,
                              avx2::bits_to_positions,
                              avx2::count_bits,
                              avx2::write_utf8,
                              avx2::write_utf8,
                              avx2::write_utf8,
                              nullptr,
                              avx2::find_absent_pairs};

} // namespace pretok
#undef PRETOK_TARGET
#endif
