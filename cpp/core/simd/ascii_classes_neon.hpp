// The classes of ASCII, looked up 16 at a time with NEON.
#pragma once

#include "core/base/instruction_set.hpp"

#include <cstdint>

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>

namespace pretok {
namespace neon {

class AsciiClasses {
public:
  // `classes` are the classes of 128 code points.
  explicit AsciiClasses(const std::uint8_t *classes)
      : low_(vld1q_u8_x4(classes)), high_(vld1q_u8_x4(classes + 64)) {}

  // For an index that is too large for the table, vqtbl returns 0, and vqtbx returns the byte
  // of its first argument. So bytes below 64 get a class from `low_`, and bytes from 64 to 127
  // from `high_`.
  uint8x16_t operator[](uint8x16_t bytes) const {
    return vqtbx4q_u8(vqtbl4q_u8(low_, bytes), high_, vsubq_u8(bytes, vdupq_n_u8(64)));
  }

private:
  uint8x16x4_t low_;
  uint8x16x4_t high_;
};

} // namespace neon
} // namespace pretok
#endif
