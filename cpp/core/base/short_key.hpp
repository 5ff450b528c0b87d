// Short byte strings as keys of tables: two 64-bit words, compared and hashed together.
#pragma once

#include "core/base/bits.hpp"
#include "core/base/hash.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Up to 16 bytes, padded with zeros.
struct ShortBytes {
  static constexpr std::size_t MAX_BYTES = 16;

  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // Returns the `size` bytes at `bytes`, at most MAX_BYTES. May read past these bytes, but not
  // past `limit`.
  static ShortBytes load(const std::uint8_t *bytes, std::size_t size,
                         const std::uint8_t *limit) {
    ShortBytes key;
    if (!LITTLE_ENDIAN_BYTES || static_cast<std::size_t>(limit - bytes) < MAX_BYTES)
      return load_no_more(bytes, size);
    std::memcpy(&key.low, bytes, 8);
    std::memcpy(&key.high, bytes + 8, 8);
    // Mask the bytes without a branch: the size is unpredictable, so a branch would be
    // mispredicted.
    std::uint64_t mask;
    std::memcpy(&mask, BYTE_MASKS.data() + MAX_BYTES - size, 8);
    key.low &= mask;
    std::memcpy(&mask, BYTE_MASKS.data() + MAX_BYTES - size + 8, 8);
    key.high &= mask;
    return key;
  }

  // Like `load`, but never reads past `size` bytes.
  static ShortBytes load_no_more(const std::uint8_t *bytes, std::size_t size);

  // The 16 bytes from index 16 - size on are a mask of the first `size` bytes of a ShortBytes.
  static constexpr std::array<std::uint8_t, 2 * MAX_BYTES> BYTE_MASKS = {
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0,    0,    0,    0,    0,    0,
      0,    0,    0,    0,    0,    0,    0,    0,    0,    0};
};

// Up to 15 bytes and their size.
struct ShortKey {
  static constexpr std::size_t MAX_BYTES = ShortBytes::MAX_BYTES - 1;
  // The shift of the size in `high`. It makes the size the last byte of the key in memory.
  static constexpr unsigned SIZE_SHIFT = LITTLE_ENDIAN_BYTES ? 56 : 0;

  std::uint64_t low;
  std::uint64_t high;

  ShortKey() = default; // uninitialized
  // `size` must be at most MAX_BYTES. May read past the `size` bytes at `bytes`, but not past
  // `limit`.
  ShortKey(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit) {
    const ShortBytes all = ShortBytes::load(bytes, size, limit);
    low = all.low;
    high = all.high | std::uint64_t{size} << SIZE_SHIFT;
  }

  // Returns the key of a string of more than MAX_BYTES bytes. It contains only a hash, so two
  // long strings may have equal keys, and callers must compare the bytes too. No string of at
  // most MAX_BYTES bytes has an equal key, since the last byte of its key is its size, not
  // 0xFF.
  static ShortKey of_long(const std::uint8_t *bytes, std::size_t size, const HashKey &key) {
    ShortKey result;
    result.low = hash_long(bytes, size, key);
    result.high = std::uint64_t{0xFF} << SIZE_SHIFT;
    return result;
  }

  // Returns the key of any number of bytes. May read past the `size` bytes at `bytes`, but not
  // past `limit`.
  static ShortKey of_any(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
                         const HashKey &key) {
    return size > MAX_BYTES ? of_long(bytes, size, key) : ShortKey(bytes, size, limit);
  }

  std::uint64_t hash(const HashKey &key) const { return hash_words(low, high, key); }
  // Returns the key of the empty string, which stands for "no key".
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

// Hashes any number of bytes. May read past the `size` bytes at `bytes`, but not past `limit`.
inline std::uint64_t hash_bytes(const std::uint8_t *bytes, std::size_t size,
                                const std::uint8_t *limit, const HashKey &key) {
  return ShortKey::of_any(bytes, size, limit, key).hash(key);
}

} // namespace pretok
