// Reads the fields of a protobuf message in order. bpe/formats/protobuf.py does the same in
// Python.
#pragma once

#include "formats/load_error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pretok {

struct ProtobufField {
  std::uint32_t number = 0;
  bool is_number = false;
  std::uint64_t value = 0; // of a varint
  std::string_view bytes;  // of any other field
};

class ProtobufReader {
public:
  explicit ProtobufReader(std::string_view message) : message_(message) {}

  // Reads the next field. Returns false at the end of the message. Also returns false if the
  // message is damaged; damage() then says how.
  bool next(ProtobufField &field) {
    if (at_ == message_.size())
      return false;
    std::uint64_t tag = 0;
    if (!varint(tag))
      return false;
    if (tag >> 3 == 0 || tag >> 32 != 0)
      return fail("has a field with an invalid number");
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.is_number = (tag & 7) == VARINT;
    if (field.is_number)
      return varint(field.value);
    std::uint64_t size = (tag & 7) == FIXED64 ? 8 : 4;
    if ((tag & 7) == LENGTH) {
      if (!varint(size))
        return false;
    } else if ((tag & 7) != FIXED64 && (tag & 7) != FIXED32) {
      return fail("has a field of an unknown wire type");
    }
    if (size > message_.size() - at_)
      return fail("has a field that is longer than the rest of the message");
    field.bytes = message_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return true;
  }

  // Returns what is wrong with the message, or "".
  const char *damage() const { return damage_; }
  // Returns the error for the damage of the message `name`.
  LoadError error(const std::string &name) const {
    return malformed(name, " ", damage_, "; the file is damaged or truncated");
  }

private:
  enum : std::uint32_t { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

  bool varint(std::uint64_t &result) {
    result = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at_ == message_.size())
        return fail("ends within a number");
      const auto byte = static_cast<std::uint8_t>(message_[at_++]);
      result |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80)
        return true;
    }
    return fail("has a number of more than 10 bytes");
  }

  bool fail(const char *damage) {
    damage_ = damage;
    return false;
  }

  std::string_view message_;
  std::size_t at_ = 0;
  const char *damage_ = "";
};

} // namespace pretok
