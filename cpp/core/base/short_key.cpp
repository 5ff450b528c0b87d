#include "core/base/short_key.hpp"

namespace pretok {

ShortBytes ShortBytes::load_no_more(const std::uint8_t *bytes, std::size_t size) {
  std::uint64_t both[2] = {0, 0};
  std::memcpy(both, bytes, size);
  ShortBytes key;
  key.low = both[0];
  key.high = both[1];
  return key;
}

} // namespace pretok
