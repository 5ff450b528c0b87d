// A view of bytes that another object owns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

struct ByteView {
  const std::uint8_t *data;
  std::size_t size;
};

} // namespace pretok
