// Kernels for AVX2: Haswell, Zen and later.
#include "core/simd/kernels.hpp"
#include "core/simd/kernels_plain.hpp"

#if PRETOK_X86_KERNELS
#include <immintrin.h>

#define PRETOK_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace pretok {
namespace avx2 {
namespace {

PRETOK_TARGET inline __m256i load(const void *from) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(from));
}

// Loads 16 bytes into both halves.
PRETOK_TARGET inline __m256i load_twice(const void *from) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i *>(from)));
}

// The classes of ASCII, 16 in each part.
struct Ascii {
  __m256i parts[8];
};
PRETOK_TARGET inline Ascii ascii_of(const ClassTable &table) {
  Ascii ascii;
  for (int i = 0; i < 8; ++i)
    ascii.parts[i] = load_twice(table.latin1() + 16 * i);
  return ascii;
}

PRETOK_TARGET inline __m256i look_up(const Ascii &ascii, __m256i bytes) {
  __m256i classes = _mm256_setzero_si256();
  for (int i = 0; i < 8; ++i) {
    // A byte of part i becomes 0x00 to 0x0F, plus 0x70. Bytes of other parts saturate to 0x80
    // or more, for which the shuffle returns 0.
    const __m256i within = _mm256_xor_si256(bytes, _mm256_set1_epi8(static_cast<char>(i << 4)));
    classes = _mm256_or_si256(
        classes,
        _mm256_shuffle_epi8(ascii.parts[i], _mm256_adds_epu8(within, _mm256_set1_epi8(0x70))));
  }
  return classes;
}

PRETOK_TARGET void read_utf8(const ClassTable &table, const std::uint8_t *data,
                             std::size_t size, ClassBuffer &buffer) {
  const Ascii ascii = ascii_of(table);
  buffer.one_unit_each = true;
  std::size_t at = 0;
  std::size_t filled = 0;
  while (filled < ClassBuffer::MAX_CODE_POINTS && at < size) {
    if (size - at < 32 || filled + 32 > ClassBuffer::MAX_CODE_POINTS) {
      append_utf8(table, data, size, at, size, buffer, filled);
      continue;
    }
    const __m256i bytes = load(data + at);
    const auto beyond = static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
    if (beyond != 0) {
      // The 32 bytes that are not all ASCII.
      append_utf8(table, data, size, at, at + 32, buffer, filled);
      continue;
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(buffer.classes() + filled),
                        look_up(ascii, bytes));
    if (!buffer.one_unit_each)
      for (std::size_t i = 0; i < 32; ++i)
        buffer.offsets()[filled + i] = static_cast<std::uint16_t>(at + i);
    filled += 32;
    at += 32;
  }
  buffer.finish(filled, at, at == size);
}

PRETOK_TARGET inline __m256i narrow(const std::uint16_t *data, bool &ascii) {
  const __m256i low = load(data);
  const __m256i high = load(data + 16);
  ascii = _mm256_testz_si256(_mm256_or_si256(low, high),
                             _mm256_set1_epi16(static_cast<short>(0xFF80))) != 0;
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
}
PRETOK_TARGET inline __m256i narrow(const std::uint8_t *data, bool &ascii) {
  const __m256i bytes = load(data);
  ascii = _mm256_movemask_epi8(bytes) == 0;
  return bytes;
}
PRETOK_TARGET inline __m256i narrow(const std::uint32_t *data, bool &ascii) {
  __m256i parts[4];
  for (int i = 0; i < 4; ++i)
    parts[i] = load(data + 8 * i);
  const __m256i any =
      _mm256_or_si256(_mm256_or_si256(parts[0], parts[1]), _mm256_or_si256(parts[2], parts[3]));
  ascii = _mm256_testz_si256(any, _mm256_set1_epi32(~0x7F)) != 0;
  const __m256i mixed = _mm256_packus_epi16(_mm256_packs_epi32(parts[0], parts[1]),
                                            _mm256_packs_epi32(parts[2], parts[3]));
  return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

template <typename Unit>
PRETOK_TARGET void read_code_points(const ClassTable &table, const Unit *data, std::size_t size,
                                    ClassBuffer &buffer) {
  const Ascii ascii = ascii_of(table);
  const std::size_t count = std::min(size, ClassBuffer::MAX_CODE_POINTS);
  std::size_t at = 0;
  for (; at + 32 <= count; at += 32) {
    bool all_ascii;
    const __m256i bytes = narrow(data + at, all_ascii);
    if (all_ascii)
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(buffer.classes() + at),
                          look_up(ascii, bytes));
    else
      append_code_points(table, data, at, at + 32, buffer);
  }
  append_code_points(table, data, at, count, buffer);
  buffer.one_unit_each = true;
  buffer.finish(count, count, count == size);
}

// 32 bytes as indices into both halves of a table of 32. An index of the other half has its
// highest bit set, for which the shuffle returns 0.
struct Index {
  __m256i low;
  __m256i high;
};
PRETOK_TARGET inline Index index_of(const std::uint8_t *classes) {
  const __m256i of = load(classes);
  return {_mm256_add_epi8(of, _mm256_set1_epi8(0x70)),
          _mm256_sub_epi8(of, _mm256_set1_epi8(0x10))};
}
PRETOK_TARGET inline __m256i look_up(const std::uint8_t *table, const Index &index) {
  return _mm256_or_si256(_mm256_shuffle_epi8(load_twice(table), index.low),
                         _mm256_shuffle_epi8(load_twice(table + 16), index.high));
}

PRETOK_TARGET inline std::uint64_t fails(const std::uint8_t *meets, __m256i bits) {
  const __m256i part =
      _mm256_and_si256(_mm256_load_si256(reinterpret_cast<const __m256i *>(meets)), bits);
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(part, _mm256_setzero_si256())));
}
PRETOK_TARGET inline std::uint64_t holds(const std::uint8_t *meets, __m256i bits) {
  return ~(fails(meets, bits) | fails(meets + 32, bits) << 32);
}

PRETOK_TARGET void classify_pairs(const Relations &relations, const std::uint8_t *classes,
                                  std::size_t blocks, RelationBits &relation_bits) {
  const Relations::Part *part = relations.parts().data();
  const Relations::Part *const end = part + relations.parts().size();
  alignas(64) std::uint8_t meets[64 * BLOCKS];
  std::uint8_t number = 0;
  for (const Relations::Plane &plane : relations.planes()) {
    for (std::size_t at = 0; at < blocks * 64; at += 32)
      _mm256_store_si256(
          reinterpret_cast<__m256i *>(meets + at),
          _mm256_and_si256(look_up(plane.rows.data(), index_of(classes + at - 1)),
                           look_up(plane.columns.data(), index_of(classes + at))));
    for (; part != end && part->plane == number; ++part) {
      const __m256i bits = _mm256_set1_epi32(static_cast<int>(part->bits));
      BitWords &words = relation_bits[part->relation];
      for (std::size_t block = 0; block < blocks; ++block)
        words[block] = holds(meets + block * 64, bits) | (part->more ? words[block] : 0);
    }
    ++number;
  }
  complete(relations, blocks, relation_bits);
}

PRETOK_TARGET std::size_t bits_to_positions(const std::uint64_t *words, std::size_t count,
                                            std::size_t base, const std::uint16_t *offsets,
                                            std::size_t *ends) {
  std::size_t *to = ends;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word = words[i];
    const auto bits = static_cast<std::size_t>(_mm_popcnt_u64(word));
    // Branchless, eight at a time: the number of bits is unpredictable.
    for (std::size_t done = 0; done < bits; done += 8)
      for (std::size_t j = 0; j < 8; ++j) {
        const std::size_t at = i * 64 + (_tzcnt_u64(word) & 63);
        to[done + j] = base + (offsets == nullptr ? at : offsets[at]);
        word = _blsr_u64(word);
      }
    to += bits;
  }
  return static_cast<std::size_t>(to - ends);
}

PRETOK_TARGET std::size_t count_bits(const std::uint64_t *words, std::size_t count) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i)
    total += static_cast<std::size_t>(_mm_popcnt_u64(words[i]));
  return total;
}

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
#endif
