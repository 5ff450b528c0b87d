// Kernels for NEON, which every 64-bit ARM processor has.
#include "core/base/bits.hpp"
#include "core/simd/ascii_classes_neon.hpp"
#include "core/simd/kernels.hpp"
#include "core/simd/kernels_plain.hpp"
#include "core/simd/vector_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>

#define PRETOK_TARGET

namespace pretok {
namespace neon {
namespace {

using Vector = uint8x16_t;
constexpr std::size_t WIDTH = sizeof(Vector);

inline Vector load(const std::uint8_t *from) { return vld1q_u8(from); }
inline void store(std::uint8_t *to, Vector bytes) { vst1q_u8(to, bytes); }
inline Vector both(Vector a, Vector b) { return vandq_u8(a, b); }

using AsciiTable = AsciiClasses;
inline AsciiTable ascii_table(const std::uint8_t *classes) { return AsciiTable(classes); }
inline Vector look_up(const AsciiTable &table, Vector bytes) { return table[bytes]; }

// Loads WIDTH code units as bytes. If any code unit is not ASCII, the bytes are meaningless.
inline Vector narrow(const std::uint8_t *data, bool &is_ascii) {
  const Vector bytes = load(data);
  is_ascii = vmaxvq_u8(bytes) < 0x80;
  return bytes;
}
inline Vector narrow(const std::uint16_t *data, bool &is_ascii) {
  const uint16x8_t low = vld1q_u16(data);
  const uint16x8_t high = vld1q_u16(data + 8);
  is_ascii = vmaxvq_u16(vorrq_u16(low, high)) < 0x80;
  return vcombine_u8(vmovn_u16(low), vmovn_u16(high));
}
inline Vector narrow(const std::uint32_t *data, bool &is_ascii) {
  const uint32x4_t a = vld1q_u32(data);
  const uint32x4_t b = vld1q_u32(data + 4);
  const uint32x4_t c = vld1q_u32(data + 8);
  const uint32x4_t d = vld1q_u32(data + 12);
  is_ascii = vmaxvq_u32(vorrq_u32(vorrq_u32(a, b), vorrq_u32(c, d))) < 0x80;
  return vcombine_u8(vmovn_u16(vcombine_u16(vmovn_u32(a), vmovn_u32(b))),
                     vmovn_u16(vcombine_u16(vmovn_u32(c), vmovn_u32(d))));
}

// One row or column of a Relations::Plane: a byte for each of 32 classes.
using PairTable = uint8x16x2_t;
inline PairTable pair_table(const std::uint8_t *bytes) {
  return {{load(bytes), load(bytes + 16)}};
}
inline Vector look_up(const PairTable &table, Vector index) { return vqtbl2q_u8(table, index); }

// Like the template in generic_pairs.inc. In each block, vld4q puts bytes i, 4 + i, 8 + i, ...
// into vector i, and the rectangles stay in this order. So the bytes before those of vector i
// are vector i - 1.
inline void find_rectangles(const PairTable &rows, const PairTable &columns,
                            const std::uint8_t *classes, std::size_t blocks,
                            std::uint8_t *rectangles) {
  Vector last = look_up(rows, vdupq_n_u8(classes[-1]));
  for (std::size_t block = 0; block < blocks; ++block, rectangles += 64) {
    const uint8x16x4_t right = vld4q_u8(classes + 64 * block);
    Vector left = look_up(rows, right.val[3]);
    store(rectangles, both(vextq_u8(last, left, 15), look_up(columns, right.val[0])));
    last = left;
    for (int i = 1; i < 4; ++i) {
      left = look_up(rows, right.val[i - 1]);
      store(rectangles + 16 * i, both(left, look_up(columns, right.val[i])));
    }
  }
}

// Returns a mask of 64 bits: bit 4 * j + i is the top bit of byte j of vector i. Each vsriq
// shifts one vector to the right and inserts it below the top bits of another. Finally each
// half of a byte has the same four bits of the mask, and vshrn combines the halves of two
// bytes.
inline std::uint64_t top_bits(const Vector *parts) {
  const Vector low = vsriq_n_u8(parts[1], parts[0], 1);
  const Vector high = vsriq_n_u8(parts[3], parts[2], 1);
  const Vector four = vsriq_n_u8(high, low, 2);
  const Vector twice = vsriq_n_u8(four, four, 4);
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(twice), 4)), 0);
}

// Returns a mask of 64 bits: bit 4 * j + i is set if byte j of vector i has any of the wanted
// bits. `bits` is the byte of wanted bits, repeated four times. vtstq makes a byte 0xFF if it
// has any of the bits, else 0.
inline std::uint64_t any_of(const std::uint8_t *bytes, std::uint32_t bits) {
  const Vector wanted = vreinterpretq_u8_u32(vdupq_n_u32(bits));
  Vector parts[4];
  for (int i = 0; i < 4; ++i)
    parts[i] = vtstq_u8(load(bytes + 16 * i), wanted);
  return top_bits(parts);
}

// Bit i of the result is the top bit of bytes[i].
inline std::uint64_t top_bits(const std::uint8_t *bytes) {
  return top_bits(vld4q_u8(bytes).val);
}

// One instruction: there is no branch.
inline unsigned first_bit(std::uint64_t word) { return word == 0 ? 64 : lowest_bit(word); }

#include "core/simd/generic_absent_pairs.inc"
#include "core/simd/generic_code_points.inc"
#include "core/simd/generic_count.inc"
#include "core/simd/generic_pairs.inc"
#include "core/simd/generic_positions.inc"

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
                              neon::count_bits,
                              write_utf8_plain<std::uint8_t>,
                              write_utf8_plain<std::uint16_t>,
                              write_utf8_plain<std::uint32_t>,
                              nullptr,
                              neon::find_absent_pairs};

} // namespace pretok
#undef PRETOK_TARGET
#endif
