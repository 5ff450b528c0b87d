#include "core/simd/vector_kernels.hpp"

#include "core/base/bits.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>

namespace pretok {
namespace neon {
namespace {

// Looks up 64 pairs. Bit i of the result says whether the set has pair i. Ignores the top bits
// of bytes.
//
// Without vectors: a pair takes seven instructions. A vector would have to look up each pair in
// 32 tables of 64 bytes.
inline std::uint64_t present_pairs(const std::uint8_t *rows, const std::uint8_t *bytes) {
  std::uint64_t present = 0;
  std::uint64_t left = bytes[-1] & 0x7FU;
  for (std::size_t i = 0; i < 64; i += 8)
    for (std::size_t j = i; j < i + 8; ++j) {
      const std::uint64_t right = bytes[j] & 0x7FU;
      const std::uint64_t pair = left << 7 | right; // the number of a bit of `rows`
      std::uint64_t word;
      std::memcpy(&word, rows + pair / 64 * sizeof word, sizeof word);
      present = present >> 1 | (word >> pair % 64) << 63;
      left = right;
    }
  return present;
}

// Bit i of the result is the top bit of bytes[i].
inline std::uint64_t top_bits(const std::uint8_t *bytes) {
  const uint8x16x4_t all = vld4q_u8(bytes);
  const uint8x16_t low = vsriq_n_u8(all.val[1], all.val[0], 1);
  const uint8x16_t high = vsriq_n_u8(all.val[3], all.val[2], 1);
  const uint8x16_t four = vsriq_n_u8(high, low, 2);
  const uint8x16_t twice = vsriq_n_u8(four, four, 4);
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(twice), 4)), 0);
}

} // namespace

std::size_t find_absent_pairs(const AsciiPairs &pairs, const std::uint8_t *bytes,
                              std::size_t size, std::uint64_t *absent, std::uint64_t *beyond) {
  std::size_t count_beyond = 0;
  std::uint64_t before = bytes[-1] >> 7;
  for (std::size_t i = 0; i < size; i += 64) {
    const std::size_t here = std::min<std::size_t>(size - i, 64);
    const std::uint8_t *block = bytes + i;
    std::array<std::uint8_t, 65> last{}; // the last block, and the byte before it
    if (here < 64) {
      std::memcpy(last.data(), block - 1, here + 1);
      block = last.data() + 1;
    }
    const std::uint64_t is_beyond = top_bits(block);
    const std::uint64_t is_ascii = ~(is_beyond | is_beyond << 1 | before);
    const std::uint64_t valid = is_ascii & ~std::uint64_t{0} >> (64 - here);
    absent[i / 64] = valid == 0 ? 0 : valid & ~present_pairs(pairs.rows(), block);
    beyond[i / 64] = is_beyond;
    before = is_beyond >> 63;
    count_beyond += count_ones(is_beyond);
  }
  return count_beyond;
}

} // namespace neon
} // namespace pretok
#endif
