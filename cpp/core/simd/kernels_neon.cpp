// Kernels for NEON, which every 64-bit ARM processor has.
#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/simd/kernels_plain.hpp"

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>

namespace pretok {
namespace neon {
namespace {

// The classes of ASCII.
struct Ascii {
  uint8x16x4_t low;
  uint8x16x4_t high;
};
inline Ascii ascii_of(const ClassTable &table) {
  const std::uint8_t *from = table.latin1();
  return {
      {{vld1q_u8(from), vld1q_u8(from + 16), vld1q_u8(from + 32), vld1q_u8(from + 48)}},
      {{vld1q_u8(from + 64), vld1q_u8(from + 80), vld1q_u8(from + 96), vld1q_u8(from + 112)}}};
}

// vqtbl returns 0 for an index beyond its table; vqtbx keeps its first argument.
inline uint8x16_t look_up(const Ascii &ascii, uint8x16_t bytes) {
  return vqtbx4q_u8(vqtbl4q_u8(ascii.low, bytes), ascii.high, vsubq_u8(bytes, vdupq_n_u8(64)));
}

void read_utf8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
               ClassBuffer &buffer) {
  const Ascii ascii = ascii_of(table);
  buffer.one_unit_each = true;
  std::size_t at = 0;
  std::size_t filled = 0;
  while (filled < ClassBuffer::MAX_CODE_POINTS && at < size) {
    if (size - at < 16 || filled + 16 > ClassBuffer::MAX_CODE_POINTS) {
      append_utf8(table, data, size, at, size, buffer, filled);
      continue;
    }
    const uint8x16_t bytes = vld1q_u8(data + at);
    if (vmaxvq_u8(bytes) >= 0x80) {
      append_utf8(table, data, size, at, at + 16, buffer, filled);
      continue;
    }
    vst1q_u8(buffer.classes() + filled, look_up(ascii, bytes));
    if (!buffer.one_unit_each)
      for (std::size_t i = 0; i < 16; ++i)
        buffer.offsets()[filled + i] = static_cast<std::uint16_t>(at + i);
    filled += 16;
    at += 16;
  }
  buffer.finish(filled, at, at == size);
}

// 16 code points as bytes, if they are all ASCII.
inline uint8x16_t narrow(const std::uint8_t *data, bool &ascii) {
  const uint8x16_t bytes = vld1q_u8(data);
  ascii = vmaxvq_u8(bytes) < 0x80;
  return bytes;
}
inline uint8x16_t narrow(const std::uint16_t *data, bool &ascii) {
  const uint16x8_t low = vld1q_u16(data);
  const uint16x8_t high = vld1q_u16(data + 8);
  ascii = vmaxvq_u16(vorrq_u16(low, high)) < 0x80;
  return vcombine_u8(vmovn_u16(low), vmovn_u16(high));
}
inline uint8x16_t narrow(const std::uint32_t *data, bool &ascii) {
  const uint32x4_t a = vld1q_u32(data);
  const uint32x4_t b = vld1q_u32(data + 4);
  const uint32x4_t c = vld1q_u32(data + 8);
  const uint32x4_t d = vld1q_u32(data + 12);
  ascii = vmaxvq_u32(vorrq_u32(vorrq_u32(a, b), vorrq_u32(c, d))) < 0x80;
  return vcombine_u8(vmovn_u16(vcombine_u16(vmovn_u32(a), vmovn_u32(b))),
                     vmovn_u16(vcombine_u16(vmovn_u32(c), vmovn_u32(d))));
}

template <typename Unit>
void read_code_points(const ClassTable &table, const Unit *data, std::size_t size,
                      ClassBuffer &buffer) {
  const Ascii ascii = ascii_of(table);
  const std::size_t count = std::min(size, ClassBuffer::MAX_CODE_POINTS);
  std::size_t at = 0;
  for (; at + 16 <= count; at += 16) {
    bool all_ascii;
    const uint8x16_t bytes = narrow(data + at, all_ascii);
    if (all_ascii)
      vst1q_u8(buffer.classes() + at, look_up(ascii, bytes));
    else
      append_code_points(table, data, at, at + 16, buffer);
  }
  append_code_points(table, data, at, count, buffer);
  buffer.one_unit_each = true;
  buffer.finish(count, count, count == size);
}

// Returns one bit for each of 64 bytes: whether it has any of `bits`.
inline std::uint64_t holds(const std::uint8_t *meets, uint8x16_t bits) {
  static const std::uint8_t POWERS[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                          1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t powers = vld1q_u8(POWERS);
  uint8x16_t parts[4];
  for (int i = 0; i < 4; ++i)
    parts[i] = vandq_u8(vtstq_u8(vld1q_u8(meets + 16 * i), bits), powers);
  const uint8x16_t all =
      vpaddq_u8(vpaddq_u8(parts[0], parts[1]), vpaddq_u8(parts[2], parts[3]));
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

void classify_pairs(const Relations &relations, const std::uint8_t *classes, std::size_t blocks,
                    RelationBits &relation_bits) {
  const Relations::Part *part = relations.parts().data();
  const Relations::Part *const end = part + relations.parts().size();
  std::uint8_t meets[64 * BLOCKS];
  std::uint8_t number = 0;
  for (const Relations::Plane &plane : relations.planes()) {
    const uint8x16x2_t rows = {{vld1q_u8(plane.rows.data()), vld1q_u8(plane.rows.data() + 16)}};
    const uint8x16x2_t columns = {
        {vld1q_u8(plane.columns.data()), vld1q_u8(plane.columns.data() + 16)}};
    for (std::size_t at = 0; at < blocks * 64; at += 16)
      vst1q_u8(meets + at, vandq_u8(vqtbl2q_u8(rows, vld1q_u8(classes + at - 1)),
                                    vqtbl2q_u8(columns, vld1q_u8(classes + at))));
    for (; part != end && part->plane == number; ++part) {
      const uint8x16_t bits = vreinterpretq_u8_u32(vdupq_n_u32(part->bits));
      BitWords &words = relation_bits[part->relation];
      for (std::size_t block = 0; block < blocks; ++block)
        words[block] = holds(meets + block * 64, bits) | (part->more ? words[block] : 0);
    }
    ++number;
  }
  complete(relations, blocks, relation_bits);
}

// Branchless, eight at a time: the number of bits is unpredictable.
std::size_t bits_to_positions(const std::uint64_t *words, std::size_t count, std::size_t base,
                              const std::uint16_t *offsets, std::size_t *ends) {
  std::size_t *to = ends;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word = words[i];
    const auto bits = static_cast<std::size_t>(__builtin_popcountll(word));
    for (std::size_t done = 0; done < bits; done += 8)
      for (std::size_t j = 0; j < 8; ++j) {
        const std::size_t at = i * 64 + (word == 0 ? 0 : lowest_bit(word));
        to[done + j] = base + (offsets == nullptr ? at : offsets[at]);
        word &= word - 1;
      }
    to += bits;
  }
  return static_cast<std::size_t>(to - ends);
}

std::size_t count_bits(const std::uint64_t *words, std::size_t count) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i)
    total += static_cast<std::size_t>(__builtin_popcountll(words[i]));
  return total;
}

} // namespace
} // namespace neon

const Kernels NEON_KERNELS = {"neon",
                              InstructionSet::NEON,
                              neon::read_utf8,
                              neon::read_code_points<std::uint8_t>,
                              neon::read_code_points<std::uint16_t>,
                              neon::read_code_points<std::uint32_t>,
                              neon::classify_pairs,
                              plain_resolve_labels,
                              neon::bits_to_positions,
                              neon::count_bits};

} // namespace pretok
#endif
