// A distinct pre-token and its count.
#pragma once

#include <cstdint>

namespace pretok {

struct Word {
  const std::uint8_t *data; // owned by the WordTable
  std::uint64_t first;      // the position of its first occurrence in the texts
  std::int64_t count;
  std::uint32_t size;
};

} // namespace pretok
