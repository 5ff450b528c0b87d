// Short byte strings as keys of tables: two words, compared and hashed at once.
#pragma once

#include "core/base/bits.hpp"
#include "core/base/hash.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Up to 16 bytes, with zeros behind.
struct ShortBytes {
  static constexpr std::size_t MAX_BYTES = 16;

  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // `size` is at most MAX_BYTES. Memory up to `limit` may be read.
  static ShortBytes load(const std::uint8_t *bytes, std::size_t size,
                         const std::uint8_t *limit) {
    ShortBytes key;
    if (!LITTLE_ENDIAN_BYTES || static_cast<std::size_t>(limit - bytes) < MAX_BYTES)
      return load_no_more(bytes, size);
    std::memcpy(&key.low, bytes, 8);
    std::memcpy(&key.high, bytes + 8, 8);
    // Without branches: sizes are what no processor could foretell.
    std::uint64_t kept;
    std::memcpy(&kept, BYTE_MASKS.data() + MAX_BYTES - size, 8);
    key.low &= kept;
    std::memcpy(&kept, BYTE_MASKS.data() + MAX_BYTES - size + 8, 8);
    key.high &= kept;
    return key;
  }

  // The same, and no other memory is read.
  static ShortBytes load_no_more(const std::uint8_t *bytes, std::size_t size);

  // Ones for as many bytes as are kept of MAX_BYTES, if read from as many bytes before the
  // middle.
  static constexpr std::array<std::uint8_t, 2 * MAX_BYTES> BYTE_MASKS = {
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0,    0,    0,    0,    0,    0,
      0,    0,    0,    0,    0,    0,    0,    0,    0,    0};
};

// Up to 15 bytes and how many they are.
struct ShortKey {
  static constexpr std::size_t MAX_BYTES = ShortBytes::MAX_BYTES - 1;
  // Where in `high` the size is: behind the last byte.
  static constexpr unsigned SIZE_SHIFT = LITTLE_ENDIAN_BYTES ? 56 : 0;

  std::uint64_t low;
  std::uint64_t high;

  ShortKey() = default; // anything
  // Memory up to `limit` may be read.
  ShortKey(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit) {
    const ShortBytes all = ShortBytes::load(bytes, size, limit);
    low = all.low;
    high = all.high | std::uint64_t{size} << SIZE_SHIFT;
  }

  std::uint64_t hash(const HashKey &key) const { return hash_words(low, high, key); }
  static ShortKey none() {
    ShortKey key;
    key.low = key.high = 0;
    return key;
  }
  bool is_none() const { return high == 0; }
  bool operator==(const ShortKey &other) const {
    return ((low ^ other.low) | (high ^ other.high)) == 0;
  }
};

// Hashes any number of bytes. Memory up to `limit` may be read.
inline std::uint64_t hash_bytes(const std::uint8_t *bytes, std::size_t size,
                                const std::uint8_t *limit, const HashKey &key) {
  return size <= ShortKey::MAX_BYTES ? ShortKey(bytes, size, limit).hash(key)
                                     : hash_long(bytes, size, key);
}

} // namespace pretok
