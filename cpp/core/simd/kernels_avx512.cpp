// Kernels for AVX-512 with VBMI2: Ice Lake, Zen 4 and later.
#include "core/base/avx512.hpp"
#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/simd/kernels_plain.hpp"
#include "core/simd/vector_kernels.hpp"

#if PRETOK_X86_KERNELS
namespace pretok {
namespace avx512 {
namespace {

// Stores 64 offsets: each byte of `bytes`, plus `base`.
PRETOK_AVX512 inline void store_offsets(std::uint16_t *to, __m512i bytes, std::size_t base) {
  const __m512i more = _mm512_set1_epi16(static_cast<short>(base));
  _mm512_storeu_si512(
      to, _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(bytes)), more));
  _mm512_storeu_si512(
      to + 32,
      _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(bytes, 1)), more));
}

// Returns the classes of 16 code points, one byte each.
PRETOK_AVX512 inline __m128i classes_of(const ClassTable &table, __m512i code_points) {
  const __m512i entry =
      _mm512_and_si512(_mm512_i32gather_epi32(_mm512_srli_epi32(code_points, ClassTable::SHIFT),
                                              table.index(), 2),
                       _mm512_set1_epi32(0xFFFF));
  const __m512i within =
      _mm512_and_si512(code_points, _mm512_set1_epi32((1 << ClassTable::SHIFT) - 1));
  const __m512i at = _mm512_or_si512(_mm512_slli_epi32(entry, ClassTable::SHIFT), within);
  return _mm512_cvtepi32_epi8(_mm512_i32gather_epi32(at, table.blocks(), 1));
}

// Decodes 16 sequences of two to four bytes. leads[first] to leads[first + 15] are the
// positions of their lead bytes in `bytes`. `more` has the 64 bytes after `bytes`.
//
// Each lane of 32 bits gets a lead byte and the three bytes after it, with the lead byte in the
// top byte: the variable `four`. Then decode clears the marker bits and packs the payload bits
// together. This is a lane with a sequence of three bytes, after each operation:
//
//   four             1110aaaa 10bbbbbb 10cccccc xxxxxxxx
//   & 0x0F3F3F3F     0000aaaa 00bbbbbb 00cccccc 00xxxxxx     the mask of leads 0xE0 to 0xEF
//   maddubs 0x4001   0000aaaabbbbbb    0000ccccccxxxxxx      high byte * 64 + low byte
//   madd 0x10000001  00000000aaaabbbbbbccccccxxxxxx          high half * 4096 + low half
//   >> 6             00000000000000aaaabbbbbbcccccc          drops the 6 bits of x
PRETOK_AVX512 inline __m512i decode(__m512i bytes, __m512i more, __m512i leads, char first) {
  // Lane i selects leads[first + i] four times.
  const __m512i spread =
      _mm512_set_epi8(15, 15, 15, 15, 14, 14, 14, 14, 13, 13, 13, 13, 12, 12, 12, 12, 11, 11,
                      11, 11, 10, 10, 10, 10, 9, 9, 9, 9, 8, 8, 8, 8, 7, 7, 7, 7, 6, 6, 6, 6, 5,
                      5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  const __m512i from =
      _mm512_permutexvar_epi8(_mm512_add_epi8(spread, _mm512_set1_epi8(first)), leads);
  // The lead byte goes into the top byte of a lane. x86 is little-endian, so the top byte of a
  // lane is loaded from position + 0, and the lowest from position + 3.
  const __m512i four = _mm512_permutex2var_epi8(
      bytes, _mm512_add_epi8(from, _mm512_set1_epi32(0x00010203)), more);
  // Two tables indexed by the high nibble of the lead, 0xC to 0xF. _mm512_set_epi32 lists the
  // highest index first: 0xF (four bytes), 0xE (three), 0xD and 0xC (two).
  const __m512i lead = _mm512_srli_epi32(four, 28);
  const __m512i masks = _mm512_set_epi32(0x073F3F3F, 0x0F3F3F3F, 0x1F3F3F3F, 0x1F3F3F3F, 0, 0,
                                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i shifts = _mm512_set_epi32(0, 6, 12, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i kept = _mm512_and_si512(four, _mm512_permutexvar_epi32(lead, masks));
  const __m512i halves = _mm512_maddubs_epi16(kept, _mm512_set1_epi16(0x4001));
  const __m512i whole = _mm512_madd_epi16(halves, _mm512_set1_epi32(0x10000001));
  return _mm512_srlv_epi32(whole, _mm512_permutexvar_epi32(lead, shifts));
}

// Stores the classes and offsets of the code points that start in the next 64 bytes at
// data[at], or up to the end of the text, in `buffer` from index `filled` on. Advances `at` and
// `filled`. If the text is not well-formed there, returns false and changes nothing.
PRETOK_AVX512 inline bool read_block(const ClassTable &table, const std::uint8_t *data,
                                     std::size_t size, std::size_t &at, ClassBuffer &buffer,
                                     std::size_t &filled) {
  const __mmask64 valid = first_64(size - at);
  const std::size_t beyond = size - at > 64 ? size - at - 64 : 0;
  const __m512i bytes = _mm512_maskz_loadu_epi8(valid, data + at);
  const __m512i more = _mm512_maskz_loadu_epi8(first_64(beyond), data + at + 64);
  Utf8Block block;
  if (!block.read(bytes, more))
    return false;
  const __mmask64 two = block.two;
  const __mmask64 starts = ~block.tails & valid;
  if (buffer.one_unit_each)
    buffer.start_offsets(filled);
  store_offsets(buffer.offsets() + filled,
                _mm512_maskz_compress_epi8(starts, ascending_bytes()), at);
  const auto count = static_cast<std::size_t>(_mm_popcnt_u64(starts));
  // `classes` gets only the classes of the code points outside ASCII. The expand at the end
  // puts each of these classes in its place among the classes of ASCII.
  const __m512i leads = _mm512_maskz_compress_epi8(two, ascending_bytes());
  const auto beyond_ascii = static_cast<std::size_t>(_mm_popcnt_u64(two));
  alignas(64) std::uint8_t classes[64];
  for (std::size_t i = 0; i < beyond_ascii; i += 16)
    _mm_store_si128(reinterpret_cast<__m128i *>(classes + i),
                    classes_of(table, decode(bytes, more, leads, static_cast<char>(i))));
  const __m512i ascii = _mm512_maskz_compress_epi8(
      starts, _mm512_permutex2var_epi8(_mm512_loadu_si512(table.latin1()), bytes,
                                       _mm512_loadu_si512(table.latin1() + 64)));
  _mm512_storeu_si512(
      buffer.classes() + filled,
      _mm512_mask_expand_epi8(ascii, _pext_u64(two, starts), _mm512_load_si512(classes)));
  filled += count;
  at += std::min<std::size_t>(64, size - at) +
        static_cast<std::size_t>(_mm_popcnt_u64(block.across()));
  return true;
}

PRETOK_AVX512 void read_utf8(const ClassTable &table, const std::uint8_t *data,
                             std::size_t size, ClassBuffer &buffer) {
  const __m512i low = _mm512_loadu_si512(table.latin1());
  const __m512i high = _mm512_loadu_si512(table.latin1() + 64);
  buffer.one_unit_each = true;
  std::size_t at = 0;
  std::size_t filled = 0;
  while (filled < ClassBuffer::MAX_CODE_POINTS && at < size) {
    if (size - at >= 2 * ClassBuffer::MAX_CODE_POINTS)
      _mm_prefetch(reinterpret_cast<const char *>(data + at + ClassBuffer::MAX_CODE_POINTS),
                   _MM_HINT_T0);
    const __m512i bytes = _mm512_maskz_loadu_epi8(first_64(size - at), data + at);
    if (_mm512_movepi8_mask(bytes) == 0) {
      _mm512_storeu_si512(buffer.classes() + filled,
                          _mm512_permutex2var_epi8(low, bytes, high));
      if (!buffer.one_unit_each)
        store_offsets(buffer.offsets() + filled, ascending_bytes(), at);
      const std::size_t taken = std::min<std::size_t>(64, size - at);
      filled += taken;
      at += taken;
    } else if (!read_block(table, data, size, at, buffer, filled)) {
      append_utf8(table, data, size, at, at + 64, buffer, filled);
    }
  }
  buffer.finish(filled, at, at == size);
}

PRETOK_AVX512 void read_8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
                          ClassBuffer &buffer) {
  const std::uint8_t *latin1 = table.latin1();
  const __m512i part0 = _mm512_loadu_si512(latin1);
  const __m512i part1 = _mm512_loadu_si512(latin1 + 64);
  const __m512i part2 = _mm512_loadu_si512(latin1 + 128);
  const __m512i part3 = _mm512_loadu_si512(latin1 + 192);
  const std::size_t count = std::min(size, ClassBuffer::MAX_CODE_POINTS);
  for (std::size_t i = 0; i < count; i += 64) {
    const __m512i bytes = _mm512_maskz_loadu_epi8(first_64(count - i), data + i);
    const __m512i classes = _mm512_permutex2var_epi8(part0, bytes, part1);
    _mm512_storeu_si512(buffer.classes() + i,
                        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), classes,
                                               _mm512_permutex2var_epi8(part2, bytes, part3)));
  }
  buffer.one_unit_each = true;
  buffer.finish(count, count, count == size);
}

// Up to 64 code points as bytes. narrow() loads data[i] if bit i of `valid` is set, and 0
// otherwise.
struct Narrowed {
  __m512i bytes;
  bool is_ascii; // if false, `bytes` are meaningless
};
PRETOK_AVX512 inline Narrowed narrow(const std::uint16_t *data, __mmask64 valid) {
  const __m512i low = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(valid), data);
  const __m512i high = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(valid >> 32), data + 32);
  const __m512i beyond = _mm512_set1_epi16(static_cast<short>(0xFF80));
  return {_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(low)),
                             _mm512_cvtepi16_epi8(high), 1),
          _mm512_test_epi16_mask(_mm512_or_si512(low, high), beyond) == 0};
}
PRETOK_AVX512 inline Narrowed narrow(const std::uint32_t *data, __mmask64 valid) {
  __m512i parts[4];
  for (int i = 0; i < 4; ++i)
    parts[i] = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(valid >> 16 * i), data + 16 * i);
  const __m512i any =
      _mm512_or_si512(_mm512_or_si512(parts[0], parts[1]), _mm512_or_si512(parts[2], parts[3]));
  __m512i bytes = _mm512_castsi128_si512(_mm512_cvtepi32_epi8(parts[0]));
  bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(parts[1]), 1);
  bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(parts[2]), 2);
  bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(parts[3]), 3);
  return {bytes, _mm512_test_epi32_mask(any, _mm512_set1_epi32(~0x7F)) == 0};
}

// Loads code points as 32-bit numbers: data[i] if bit i of `valid` is set, and 0 otherwise.
PRETOK_AVX512 inline __m512i widen(const std::uint16_t *data, __mmask16 valid) {
  return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(valid, data));
}
PRETOK_AVX512 inline __m512i widen(const std::uint32_t *data, __mmask16 valid) {
  return _mm512_maskz_loadu_epi32(valid, data);
}

template <typename Unit>
PRETOK_AVX512 void read_wide(const ClassTable &table, const Unit *data, std::size_t size,
                             ClassBuffer &buffer) {
  const __m512i low = _mm512_loadu_si512(table.latin1());
  const __m512i high = _mm512_loadu_si512(table.latin1() + 64);
  const std::size_t count = std::min(size, ClassBuffer::MAX_CODE_POINTS);
  for (std::size_t i = 0; i < count; i += 64) {
    // The text for one ClassBuffer fills a page or half a page. The hardware prefetcher stops
    // at the end of a page, so it would stop once in every buffer or in every second one.
    // Prefetch the text of the fourth buffer after this one.
    if (size - i >= 5 * ClassBuffer::MAX_CODE_POINTS)
      for (std::size_t line = 0; line < sizeof(Unit); ++line)
        _mm_prefetch(
            reinterpret_cast<const char *>(data + i + 4 * ClassBuffer::MAX_CODE_POINTS) +
                64 * line,
            _MM_HINT_T1);
    const __mmask64 valid = first_64(count - i);
    const Narrowed units = narrow(data + i, valid);
    std::uint8_t *to = buffer.classes() + i;
    if (units.is_ascii) {
      _mm512_storeu_si512(to, _mm512_permutex2var_epi8(low, units.bytes, high));
      continue;
    }
    for (std::size_t part = 0; part < 64; part += 16)
      _mm_storeu_si128(
          reinterpret_cast<__m128i *>(to + part),
          classes_of(table, widen(data + i + part, static_cast<__mmask16>(valid >> part))));
  }
  buffer.one_unit_each = true;
  buffer.finish(count, count, count == size);
}

constexpr std::size_t WIDTH = 64;

PRETOK_AVX512 inline __m512i load(const std::uint8_t *from) { return _mm512_loadu_si512(from); }
PRETOK_AVX512 inline void store(std::uint8_t *to, __m512i bytes) {
  _mm512_storeu_si512(to, bytes);
}
PRETOK_AVX512 inline __m512i both(__m512i a, __m512i b) { return _mm512_and_si512(a, b); }

// A table of 32 bytes, indexed by class.
struct PairTable {
  __m512i bytes;
};
PRETOK_AVX512 inline PairTable pair_table(const std::uint8_t *bytes) {
  return {_mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(bytes)))};
}
PRETOK_AVX512 inline __m512i look_up(const PairTable &table, __m512i index) {
  return _mm512_permutexvar_epi8(index, table.bytes);
}

// Returns a mask of 64 bits: bit i is set if bytes[i] has any of the wanted bits. `bits` is
// the byte of wanted bits, repeated four times.
PRETOK_AVX512 inline std::uint64_t any_of(const std::uint8_t *bytes, std::uint32_t bits) {
  return _mm512_test_epi8_mask(load(bytes), _mm512_set1_epi32(static_cast<int>(bits)));
}

#define PRETOK_TARGET PRETOK_AVX512
#include "core/simd/generic_count.inc"
#include "core/simd/generic_pairs.inc"

using Words = __m512i;
constexpr std::size_t WORDS = 8;

PRETOK_AVX512 inline Words repeated_word(std::uint64_t word) {
  return _mm512_set1_epi64(static_cast<long long>(word));
}
// Shifts eight words left by one bit, as one number of 512 bits. The lowest bit of the result
// is the top bit of `last`.
PRETOK_AVX512 inline Words shift(Words words, Words last) {
  return _mm512_or_si512(_mm512_add_epi64(words, words),
                         _mm512_srli_epi64(_mm512_alignr_epi64(words, last, 7), 63));
}

#include "core/simd/generic_labels.inc"

PRETOK_AVX512 inline void store_ends(std::size_t *to, __m512i positions, __m512i base) {
  _mm512_storeu_si512(to, _mm512_add_epi64(positions, base));
}

// Stores the positions of the 1 bits in `word`, plus `base`. Returns the end of the stored
// values. May write up to ClassBuffer::PADDING values after this end.
PRETOK_AVX512 inline std::size_t *positions_of_units(std::uint64_t word, std::size_t base,
                                                     std::size_t *to) {
  const __m512i positions = _mm512_maskz_compress_epi8(word, ascending_bytes());
  const __m512i more = _mm512_set1_epi64(static_cast<long long>(base));
  const auto bits = static_cast<std::size_t>(_mm_popcnt_u64(word));
  const __m128i first = _mm512_castsi512_si128(positions);
  store_ends(to, _mm512_cvtepu8_epi64(first), more);
  store_ends(to + 8, _mm512_cvtepu8_epi64(_mm_srli_si128(first, 8)), more);
  if (bits > 16) {
    alignas(64) std::uint8_t all[64];
    _mm512_store_si512(all, positions);
    for (std::size_t i = 16; i < bits; i += 8)
      store_ends(
          to + i,
          _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(all + i))),
          more);
  }
  return to + bits;
}

// Stores offsets[i] + base for each bit i of `word` that is 1. Returns the end of the stored
// values. May write up to ClassBuffer::PADDING values after this end.
PRETOK_AVX512 inline std::size_t *positions_of_code_points(std::uint64_t word, std::size_t base,
                                                           const std::uint16_t *offsets,
                                                           std::size_t *to) {
  const __m512i more = _mm512_set1_epi64(static_cast<long long>(base));
  for (int half = 0; half < 2; ++half, word >>= 32, offsets += 32) {
    const auto bits = static_cast<std::size_t>(_mm_popcnt_u32(static_cast<unsigned>(word)));
    const __m512i positions =
        _mm512_maskz_compress_epi16(static_cast<__mmask32>(word), _mm512_loadu_si512(offsets));
    store_ends(to, _mm512_cvtepu16_epi64(_mm512_castsi512_si128(positions)), more);
    if (bits > 8)
      store_ends(to + 8, _mm512_cvtepu16_epi64(_mm512_extracti32x4_epi32(positions, 1)), more);
    if (bits > 16) {
      store_ends(to + 16, _mm512_cvtepu16_epi64(_mm512_extracti32x4_epi32(positions, 2)), more);
      store_ends(to + 24, _mm512_cvtepu16_epi64(_mm512_extracti32x4_epi32(positions, 3)), more);
    }
    to += bits;
  }
  return to;
}

PRETOK_AVX512 std::size_t bits_to_positions(const std::uint64_t *words, std::size_t count,
                                            std::size_t base, const std::uint16_t *offsets,
                                            std::size_t *ends) {
  std::size_t *to = ends;
  for (std::size_t i = 0; i < count; ++i)
    to = offsets == nullptr ? positions_of_units(words[i], base + i * 64, to)
                            : positions_of_code_points(words[i], base, offsets + i * 64, to);
  return static_cast<std::size_t>(to - ends);
}

} // namespace
} // namespace avx512

const Kernels AVX512_KERNELS = {"avx512",
                                InstructionSet::AVX512,
                                avx512::read_utf8,
                                avx512::read_8,
                                avx512::read_wide<std::uint16_t>,
                                avx512::read_wide<std::uint32_t>,
                                avx512::classify_pairs,
                                avx512::resolve_labels,
                                avx512::bits_to_positions,
                                avx512::count_bits,
                                avx512::write_utf8,
                                avx512::write_utf8,
                                avx512::write_utf8,
                                avx512::widen,
                                avx512::find_absent_pairs};

} // namespace pretok
#undef PRETOK_TARGET
#endif
