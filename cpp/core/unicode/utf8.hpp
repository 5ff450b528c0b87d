// UTF-8. A byte that is not part of a well-formed sequence counts as one code point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pretok {

// Returns whether `byte` is a continuation byte, 0x80 to 0xBF.
inline bool is_tail(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

struct Decoded {
  std::uint32_t code_point;
  std::uint32_t width; // in bytes
};

// Decodes the sequence at bytes[0]. `left` >= 1 is the number of bytes to the end of the text.
// A byte that does not start a well-formed sequence becomes the lone surrogate U+DC00 + byte,
// as with Python's error handler "surrogateescape".
inline Decoded decode_utf8(const std::uint8_t *bytes, std::size_t left) {
  const std::uint32_t lead = bytes[0];
  const auto tail = [bytes](int i) { return is_tail(bytes[i]); };
  const auto low6 = [bytes](int i) { return std::uint32_t{bytes[i]} & 0x3F; };
  if (lead < 0x80)
    return {lead, 1};
  if (lead >= 0xC2 && lead < 0xE0 && left >= 2 && tail(1))
    return {(lead & 0x1F) << 6 | low6(1), 2};
  if (lead >= 0xE0 && lead < 0xF0 && left >= 3 && tail(1) && tail(2)) {
    const std::uint32_t code_point = (lead & 0x0F) << 12 | low6(1) << 6 | low6(2);
    if (code_point >= 0x800 && (code_point < 0xD800 || code_point > 0xDFFF))
      return {code_point, 3};
  }
  if (lead >= 0xF0 && lead < 0xF5 && left >= 4 && tail(1) && tail(2) && tail(3)) {
    const std::uint32_t code_point =
        (lead & 0x07) << 18 | low6(1) << 12 | low6(2) << 6 | low6(3);
    if (code_point >= 0x10000 && code_point < 0x110000)
      return {code_point, 4};
  }
  return {0xDC00 + lead, 1};
}

// Like decode_utf8, but faster for well-formed sequences of two or three bytes that do not
// start in the last three bytes of the text.
inline Decoded decode_fast(const std::uint8_t *bytes, std::size_t left) {
  if (left < 4)
    return decode_utf8(bytes, left);
  const std::uint32_t four = std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
                             std::uint32_t{bytes[2]} << 8 | bytes[3];
  if ((four & 0xF0C0C000) == 0xE0808000) {
    const std::uint32_t code_point =
        (four >> 12 & 0xF000) | (four >> 10 & 0x0FC0) | (four >> 8 & 0x003F);
    if (code_point >= 0x800 && code_point - 0xD800 >= 0x800)
      return {code_point, 3};
  } else if ((four & 0xE0C00000) == 0xC0800000 && four >= 0xC2000000) {
    return {(four >> 18 & 0x07C0) | (four >> 16 & 0x003F), 2};
  }
  return decode_utf8(bytes, left);
}

// Returns the start of the last code point in [start, end). The range must not be empty.
std::size_t last_start(const std::uint8_t *data, std::size_t start, std::size_t end);

// Returns the number of bytes of the incomplete UTF-8 sequence at the end of data[0..size), or
// 0 if the end is not within a sequence. Only the lead byte counts: a sequence that no bytes
// can make well-formed, such as E0 80, is incomplete too.
std::size_t incomplete_size(const std::uint8_t *data, std::size_t size);

// Writes a code point, which may be a surrogate, in up to four bytes. Returns the number of
// bytes.
inline std::size_t encode_utf8(std::uint32_t code_point, std::uint8_t *to) {
  if (code_point < 0x80) {
    to[0] = static_cast<std::uint8_t>(code_point);
    return 1;
  }
  const auto tail = [code_point](unsigned shift) {
    return static_cast<std::uint8_t>(0x80 | (code_point >> shift & 0x3F));
  };
  if (code_point < 0x800) {
    to[0] = static_cast<std::uint8_t>(0xC0 | code_point >> 6);
    to[1] = tail(0);
    return 2;
  }
  if (code_point < 0x10000) {
    to[0] = static_cast<std::uint8_t>(0xE0 | code_point >> 12);
    to[1] = tail(6);
    to[2] = tail(0);
    return 3;
  }
  to[0] = static_cast<std::uint8_t>(0xF0 | code_point >> 18);
  to[1] = tail(12);
  to[2] = tail(6);
  to[3] = tail(0);
  return 4;
}

// Returns whether all bytes are below 0x80.
inline bool is_ascii(const std::uint8_t *bytes, std::size_t size) {
  std::uint64_t any = 0;
  const auto add_eight = [&](std::size_t at) {
    std::uint64_t part;
    std::memcpy(&part, bytes + at, sizeof part);
    any |= part;
  };
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8)
      add_eight(at);
    add_eight(size - 8);
  } else if (size >= 4) {
    std::uint32_t first;
    std::uint32_t last; // may overlap `first`
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(&last, bytes + size - 4, sizeof last);
    any = first | last;
  } else if (size > 0) {
    any = bytes[0] | bytes[size / 2] | bytes[size - 1];
  }
  return (any & 0x8080808080808080) == 0;
}

// Returns whether all bytes are in well-formed sequences.
bool is_utf8(std::string_view text);

} // namespace pretok
