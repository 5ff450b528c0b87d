// Kernels::read_utf8 with NEON: decodes 16 bytes, or 16 sequences of three bytes, at a time.
#include "core/base/bits.hpp"
#include "core/simd/ascii_classes_neon.hpp"
#include "core/simd/kernels_plain.hpp"
#include "core/simd/vector_kernels.hpp"

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>

namespace pretok {
namespace neon {
namespace {

constexpr std::size_t BLOCK_BYTES = 16;

inline bool are_ascii(uint8x16_t bytes) { return vmaxvq_u8(bytes) < 0x80; }

// Returns four bits for each byte of `mask`, whose bytes are 0x00 or 0xFF.
inline std::uint64_t four_bits_each(uint8x16_t mask) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(mask), 4)), 0);
}

// Stores numbers of 16 bits, given by their low and high bytes.
inline void store_wide(std::uint16_t *to, uint8x16_t low, uint8x16_t high) {
  vst1q_u16(to, vreinterpretq_u16_u8(vzip1q_u8(low, high)));
  vst1q_u16(to + 8, vreinterpretq_u16_u8(vzip2q_u8(low, high)));
}

// Stores 16 offsets: first, first + STEP, ...
template <std::uint16_t STEP> inline void store_offsets(std::uint16_t *to, std::size_t first) {
  const uint16x8_t steps = {0,        STEP,     2 * STEP, 3 * STEP,
                            4 * STEP, 5 * STEP, 6 * STEP, 7 * STEP};
  const uint16x8_t offsets = vaddq_u16(steps, vdupq_n_u16(static_cast<std::uint16_t>(first)));
  vst1q_u16(to, offsets);
  vst1q_u16(to + 8, vaddq_u16(offsets, vdupq_n_u16(8 * STEP)));
}

// The bytes 0x80 to 0xBF. The comparison is signed, so only these bytes are below 0xC0.
inline uint8x16_t is_tail(uint8x16_t bytes) {
  return vcltq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(-0x40));
}
inline uint8x16_t begins_three(uint8x16_t bytes) {
  return vceqq_u8(vandq_u8(bytes, vdupq_n_u8(0xF0)), vdupq_n_u8(0xE0));
}

// The low and high bytes of the code points of sequences of three bytes.
inline uint8x16_t low_of_three(uint8x16_t second, uint8x16_t third) {
  return vsliq_n_u8(third, second, 6);
}
inline uint8x16_t high_of_three(uint8x16_t first, uint8x16_t second) {
  return vsliq_n_u8(vshrq_n_u8(second, 2), first, 4);
}
// Code points below U+0800 take fewer bytes, and U+D800 to U+DFFF are surrogates.
inline uint8x16_t is_not_three(uint8x16_t high) {
  const uint8x16_t high5 = vandq_u8(high, vdupq_n_u8(0xF8));
  return vorrq_u8(vceqzq_u8(high5), vceqq_u8(high5, vdupq_n_u8(0xD8)));
}

// A text, and the position in it and in its buffer.
struct Reader {
  const ClassTable &table;
  const std::uint8_t *const data;
  const std::size_t size;
  ClassBuffer &buffer;
  std::size_t at = 0;
  std::size_t filled = 0;

  std::size_t left() const { return size - at; }
  std::uint8_t *classes() const { return buffer.classes() + filled; }
  std::uint16_t *offsets() const { return buffer.offsets() + filled; }
  // Call it before storing offsets.
  void start_offsets() {
    if (buffer.one_unit_each)
      buffer.start_offsets(filled);
  }
  void append_plain(std::size_t until) {
    append_utf8(table, data, size, at, until, buffer, filled);
  }

  void append_ascii(const AsciiClasses &ascii, uint8x16_t bytes);
  void append_some_ascii(const AsciiClasses &ascii, uint8x16_t bytes, std::size_t count);
  bool append_threes();
  void append_mixed(uint8x16_t first);
};

// Appends 16 bytes, and up to 48 more if they are ASCII too.
inline void Reader::append_ascii(const AsciiClasses &ascii, uint8x16_t bytes) {
  std::size_t width = BLOCK_BYTES;
  if (left() >= 4 * BLOCK_BYTES && filled + 4 * BLOCK_BYTES <= ClassBuffer::MAX_CODE_POINTS) {
    const std::uint8_t *const more = data + at;
    const uint8x16_t second = vld1q_u8(more + BLOCK_BYTES);
    const uint8x16_t third = vld1q_u8(more + 2 * BLOCK_BYTES);
    const uint8x16_t fourth = vld1q_u8(more + 3 * BLOCK_BYTES);
    if (are_ascii(vorrq_u8(vorrq_u8(second, third), fourth))) {
      width = 4 * BLOCK_BYTES;
      vst1q_u8(classes() + BLOCK_BYTES, ascii[second]);
      vst1q_u8(classes() + 2 * BLOCK_BYTES, ascii[third]);
      vst1q_u8(classes() + 3 * BLOCK_BYTES, ascii[fourth]);
    }
  }
  vst1q_u8(classes(), ascii[bytes]);
  if (!buffer.one_unit_each)
    for (std::size_t i = 0; i < width; i += BLOCK_BYTES)
      store_offsets<1>(offsets() + i, at + i);
  filled += width;
  at += width;
}

// Appends the first `count` of 16 bytes. Entries from `count` on are overwritten later.
inline void Reader::append_some_ascii(const AsciiClasses &ascii, uint8x16_t bytes,
                                      std::size_t count) {
  vst1q_u8(classes(), ascii[bytes]);
  if (!buffer.one_unit_each)
    store_offsets<1>(offsets(), at);
  filled += count;
  at += count;
}

// Appends up to 16 sequences of three bytes, as many as follow each other. Returns false if
// there is none, or if fewer than 48 bytes are left.
inline bool Reader::append_threes() {
  if (left() < 3 * BLOCK_BYTES)
    return false;
  const uint8x16x3_t bytes = vld3q_u8(data + at); // the first, second and third bytes
  const uint8x16_t high = high_of_three(bytes.val[0], bytes.val[1]);
  const uint8x16_t is_three =
      vbicq_u8(vandq_u8(begins_three(bytes.val[0]),
                        vandq_u8(is_tail(bytes.val[1]), is_tail(bytes.val[2]))),
               is_not_three(high));
  const std::uint64_t other = ~four_bits_each(is_three);
  const std::size_t count = other == 0 ? BLOCK_BYTES : lowest_bit(other) / 4;
  if (count == 0)
    return false;
  start_offsets();
  // Entries from `count` on are overwritten later.
  std::uint16_t code_points[BLOCK_BYTES];
  store_wide(code_points, low_of_three(bytes.val[1], bytes.val[2]), high);
  store_offsets<3>(offsets(), at);
  const ClassLookup class_of(table);
  std::uint8_t *const to = classes();
  for (std::size_t done = 0; done < count; done += 4)
    for (std::size_t i = done; i < done + 4; ++i)
      to[i] = class_of[code_points[i]];
  filled += count;
  at += 3 * count;
  return true;
}

// Appends the sequences that start in the 16 bytes `first` at `at`. Computes a code point at
// each byte, even where no sequence starts. Then looks up the classes of the code points at the
// bytes where a sequence starts. If one of the bytes is not UTF-8 or belongs to a sequence of
// four bytes, or if fewer than 18 bytes are left, reads the bytes one by one.
inline void Reader::append_mixed(uint8x16_t first) {
  if (left() < BLOCK_BYTES + 2)
    return append_plain(at + BLOCK_BYTES);
  const uint8x16_t second = vld1q_u8(data + at + 1);
  const uint8x16_t third = vld1q_u8(data + at + 2);
  const uint8x16_t tails = is_tail(first);
  const uint8x16_t three = begins_three(first);
  // The bytes 0xC2 to 0xDF.
  const uint8x16_t two = vcltq_u8(vsubq_u8(first, vdupq_n_u8(0xC2)), vdupq_n_u8(0xE0 - 0xC2));
  const uint8x16_t two_or_three = vorrq_u8(two, three);
  const uint8x16_t zero = vdupq_n_u8(0);
  const uint8x16_t wanted_tails = vorrq_u8(vextq_u8(zero, two_or_three, BLOCK_BYTES - 1),
                                           vextq_u8(zero, three, BLOCK_BYTES - 2));
  const uint8x16_t high3 = high_of_three(first, second);
  const uint8x16_t known =
      vorrq_u8(vorrq_u8(tails, two_or_three), vcltq_u8(first, vdupq_n_u8(0x80)));
  const uint8x16_t lacks_tail =
      vorrq_u8(vbicq_u8(two_or_three, is_tail(second)), vbicq_u8(three, is_tail(third)));
  const uint8x16_t wrong = vorrq_u8(vorrq_u8(vandq_u8(three, is_not_three(high3)), lacks_tail),
                                    vornq_u8(veorq_u8(tails, wanted_tails), known));
  if (vmaxvq_u8(wrong) != 0)
    return append_plain(at + BLOCK_BYTES);
  const uint8x16_t high2 = vandq_u8(vandq_u8(vshrq_n_u8(first, 2), vdupq_n_u8(0x07)), two);
  const uint8x16_t low2 = vbslq_u8(two, vsliq_n_u8(second, first, 6), first);
  std::uint16_t code_points[BLOCK_BYTES];
  store_wide(code_points, vbslq_u8(three, low_of_three(second, third), low2),
             vbslq_u8(three, high3, high2));
  start_offsets();
  const ClassLookup class_of(table);
  std::uint8_t *to = classes();
  std::uint16_t *to_offsets = offsets();
  for (std::uint64_t starts = ~four_bits_each(tails) & 0x1111111111111111; starts != 0;
       starts &= starts - 1) {
    const unsigned start = lowest_bit(starts) / 4;
    *to++ = class_of[code_points[start]];
    *to_offsets++ = static_cast<std::uint16_t>(at + start);
  }
  filled = static_cast<std::size_t>(to - buffer.classes());
  const std::uint64_t last = four_bits_each(two_or_three) >> 60;
  const std::uint64_t last_threes = four_bits_each(three) >> 56;
  at += BLOCK_BYTES + (last != 0 ? 1U : 0U) + (last_threes != 0 ? 1U : 0U);
}

} // namespace

void read_utf8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
               ClassBuffer &buffer) {
  const AsciiClasses ascii(table.latin1());
  buffer.one_unit_each = true;
  Reader reader{table, data, size, buffer};
  while (reader.filled < ClassBuffer::MAX_CODE_POINTS && reader.at < size) {
    if (reader.left() < BLOCK_BYTES) {
      reader.append_plain(size);
      break;
    }
    const uint8x16_t bytes = vld1q_u8(data + reader.at);
    const std::uint64_t beyond = four_bits_each(vcltzq_s8(vreinterpretq_s8_u8(bytes)));
    if (beyond == 0)
      reader.append_ascii(ascii, bytes);
    else if (const std::size_t count = lowest_bit(beyond) / 4; count != 0)
      reader.append_some_ascii(ascii, bytes, count);
    else if (!reader.append_threes())
      reader.append_mixed(bytes);
  }
  buffer.finish(reader.filled, reader.at, reader.at == size);
}

} // namespace neon
} // namespace pretok
#endif
