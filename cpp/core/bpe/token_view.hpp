// The bytes of a token, which a vocabulary keeps.
#pragma once

#include <cstdint>

namespace pretok {

struct TokenView {
  const std::uint8_t *bytes = nullptr; // nullptr: there is no such token
  std::uint32_t size = 0;
};

} // namespace pretok
