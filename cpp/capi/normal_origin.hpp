// Back from normalized text to what it was made from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

struct NormalOrigin {
  std::size_t at;
  bool exact; // the normal form of all before `at` is all before that byte
};

// Where byte `wanted` of the normal form of a text comes from: if a letter and its marks are
// changed, all of it comes from where they start. Linear time.
NormalOrigin normal_origin(const std::uint8_t *data, std::size_t size, std::size_t wanted);

} // namespace pretok
