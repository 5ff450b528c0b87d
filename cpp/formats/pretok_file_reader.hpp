// Numbers and texts out of a .pretok file.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "formats/load_error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pretok {

inline std::uint32_t little_endian(const std::uint8_t *bytes, std::size_t width) {
  std::uint32_t number = 0;
  for (std::size_t i = width; i-- > 0;)
    number = number << 8 | bytes[i];
  return number;
}

// Reads from `at` on. What reads returns false once there is a error.
class PretokFileReader {
public:
  PretokFileReader(const std::uint8_t *data, std::size_t size, std::size_t at)
      : data_(data), size_(size), at_(at) {}

  LoadError &error() { return error_; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return size_ - at_; }
  const std::uint8_t *here() const { return data_ + at_; }

  bool skip(std::size_t size) {
    if (size > left())
      return fail("ends too early");
    at_ += size;
    return true;
  }

  // Seven bits in each byte, the lowest first; all but the last have the eighth. No byte more
  // than are needed.
  bool number(std::uint32_t &found) {
    std::uint64_t read = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      if (at_ == size_)
        return fail("ends too early");
      const std::uint8_t byte = data_[at_++];
      read |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        found = static_cast<std::uint32_t>(read);
        return (byte != 0 || shift == 0) && read <= 0xFFFFFFFF
                   ? true
                   : fail("has a number that is not written as it is to be");
      }
    }
    return fail("has a number of more than 32 bits");
  }

  // A number of things, each of at least `least` bytes: fewer than there is room for.
  bool count(std::size_t least, std::uint32_t &found) {
    return number(found) &&
           (found <= left() / least || fail("says that there are " + std::to_string(found) +
                                            " of what it has no room for"));
  }

  bool text(std::string_view &found) {
    std::uint32_t size = 0;
    if (!count(1, size))
      return false;
    found = {reinterpret_cast<const char *>(here()), size};
    at_ += size;
    return is_utf8(found) || fail("has text that is not UTF-8");
  }

  bool id(std::uint32_t &found) {
    return number(found) && (found < ID_LIMIT || fail("has an id that is too large"));
  }

  bool fail(const std::string &what) {
    error_ = malformed("the file " + what + ", at offset " + std::to_string(at_) +
                       "; it was not written by pretok");
    return false;
  }

private:
  const std::uint8_t *data_;
  std::size_t size_;
  std::size_t at_;
  LoadError error_;
};

} // namespace pretok
