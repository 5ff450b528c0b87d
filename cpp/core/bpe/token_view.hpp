// A view of the bytes of a token. The vocabulary owns the bytes.
#pragma once

#include <cstdint>

namespace pretok {

struct TokenView {
  const std::uint8_t *bytes = nullptr; // nullptr: no such token
  std::uint32_t size = 0;
};

} // namespace pretok
