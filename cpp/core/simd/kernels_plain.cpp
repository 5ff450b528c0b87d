#include "core/simd/kernels_plain.hpp"

#include "core/simd/kernels.hpp"

#define PRETOK_TARGET

namespace pretok {
namespace plain {
namespace {

void read_utf8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
               ClassBuffer &buffer) {
  const std::uint8_t *latin1 = table.latin1();
  std::uint8_t *classes = buffer.classes();
  buffer.one_unit_each = true;
  std::size_t at = 0;
  std::size_t filled = 0;
  while (filled < ClassBuffer::MAX_CODE_POINTS && at < size) {
    if (size - at >= 8 && filled + 8 <= ClassBuffer::MAX_CODE_POINTS &&
        is_ascii(data + at, 8)) {
      for (std::size_t i = 0; i < 8; ++i)
        classes[filled + i] = latin1[data[at + i]];
      if (!buffer.one_unit_each)
        for (std::size_t i = 0; i < 8; ++i)
          buffer.offsets()[filled + i] = static_cast<std::uint16_t>(at + i);
      filled += 8;
      at += 8;
    } else {
      append_utf8(table, data, size, at, at + 8, buffer, filled);
    }
  }
  buffer.finish(filled, at, at == size);
}

template <typename Unit>
void read_code_points(const ClassTable &table, const Unit *data, std::size_t size,
                      ClassBuffer &buffer) {
  const std::size_t count = std::min(size, ClassBuffer::MAX_CODE_POINTS);
  buffer.one_unit_each = true;
  append_code_points(table, data, 0, count, buffer);
  buffer.finish(count, count, count == size);
}

// Returns the highest bit of each of 64 bytes, and shifts every byte left by one. So the next
// call returns the next lower bits.
std::uint64_t take_top_bits(std::uint8_t *bytes) {
  std::uint64_t bits = 0;
#if PRETOK_SSE2
  for (int i = 0; i < 64; i += 16) {
    auto *at = reinterpret_cast<__m128i *>(bytes + i);
    const __m128i part = _mm_load_si128(at);
    bits |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(part))} << i;
    _mm_store_si128(at, _mm_add_epi8(part, part));
  }
#else
  for (int i = 0; i < 64; ++i) {
    bits |= std::uint64_t{bytes[i]} >> 7 << i;
    bytes[i] = static_cast<std::uint8_t>(bytes[i] << 1);
  }
#endif
  return bits;
}

void classify_pairs(const Relations &relations, const std::uint8_t *classes, std::size_t blocks,
                    RelationBits &relation_bits) {
  const Pair *pairs = relations.pairs();
  // The low and the high byte of the relations of each pair in a block.
  alignas(16) std::uint8_t low[64];
  alignas(16) std::uint8_t high[64];
  std::size_t before = classes[-1];
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t class_ = classes[block * 64 + i];
      const Pair pair = pairs[before * CLASSES + class_];
      low[i] = static_cast<std::uint8_t>(pair);
      high[i] = static_cast<std::uint8_t>(pair >> 8);
      before = class_;
    }
    for (std::size_t relation = 8; relation-- != 0;)
      relation_bits[relation][block] = take_top_bits(low);
    for (std::size_t relation = 16; relation-- != 8;) {
      const std::uint64_t bits = take_top_bits(high);
      if (relation < RELATIONS)
        relation_bits[relation][block] = bits;
    }
  }
}

#include "core/simd/generic_count.inc"

} // namespace
} // namespace plain

const Kernels PLAIN_KERNELS = {"plain",
                               InstructionSet::PLAIN,
                               plain::read_utf8,
                               plain::read_code_points<std::uint8_t>,
                               plain::read_code_points<std::uint16_t>,
                               plain::read_code_points<std::uint32_t>,
                               plain::classify_pairs,
                               plain_resolve_labels,
                               plain_bits_to_positions,
                               plain::count_bits,
                               write_utf8_plain<std::uint8_t>,
                               write_utf8_plain<std::uint16_t>,
                               write_utf8_plain<std::uint32_t>,
                               nullptr,
                               nullptr};

} // namespace pretok

#undef PRETOK_TARGET
