// A distinct pre-token of a text, and how often it is there.
#pragma once

#include <cstdint>

namespace pretok {

struct Word {
  const std::uint8_t *data; // owned by the WordTable
  std::uint64_t first;      // the least of what was given when it was added
  std::int64_t count;
  std::uint32_t size;
};

} // namespace pretok
