// Tokens by their bytes: the id of a whole pre-token in one look.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/huge_pages.hpp"
#include "core/base/prefetch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pretok {

inline constexpr std::uint32_t NO_ID = 0xFFFFFFFF;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
inline constexpr bool LITTLE_ENDIAN_BYTES = true;
#else
inline constexpr bool LITTLE_ENDIAN_BYTES = false;
#endif

// Up to 16 bytes, with zeros behind.
struct ShortBytes {
  static constexpr std::size_t MOST = 16;

  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // `size` is at most MOST. Memory up to `limit` may be read.
  static ShortBytes load(const std::uint8_t *bytes, std::size_t size,
                         const std::uint8_t *limit) {
    ShortBytes key;
    if (!LITTLE_ENDIAN_BYTES || static_cast<std::size_t>(limit - bytes) < MOST)
      return load_no_more(bytes, size);
    std::memcpy(&key.low, bytes, 8);
    std::memcpy(&key.high, bytes + 8, 8);
    // Without branches: sizes are what no processor could foretell.
    std::uint64_t kept;
    std::memcpy(&kept, KEPT.data() + MOST - size, 8);
    key.low &= kept;
    std::memcpy(&kept, KEPT.data() + MOST - size + 8, 8);
    key.high &= kept;
    return key;
  }

  // The same, and no other memory is read.
  static ShortBytes load_no_more(const std::uint8_t *bytes, std::size_t size);

  // Ones for as many bytes as are kept of MOST, if read from as many bytes before the middle.
  static constexpr std::array<std::uint8_t, 2 * MOST> KEPT = {
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0,    0,    0,    0,    0,    0,
      0,    0,    0,    0,    0,    0,    0,    0,    0,    0};
};

// Up to 15 bytes and how many they are.
struct ShortKey {
  static constexpr std::size_t MOST = ShortBytes::MOST - 1;
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
  return size <= ShortKey::MOST ? ShortKey(bytes, size, limit).hash(key)
                                : hash_long(bytes, size, key);
}

class TokenTable {
public:
  // Makes room for `count` tokens and removes those that were there.
  void reset(std::size_t count, const HashKey &key = hash_key());

  // Keeps a view of the bytes of tokens longer than ShortKey::MOST. Of equal tokens the first
  // stays. Memory up to `limit` may be read.
  void insert(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
              std::uint32_t id);

  // The same for at most ShortKey::MOST bytes.
  void insert_short(const ShortKey &key, std::uint32_t id);

  // Asks for the memory that insert_short will need.
  void prepare(const ShortKey &key) const {
    pretok::prefetch(&short_[key.hash(key_) >> short_shift_]);
  }

  // The id of the token with these bytes, or NO_ID. Memory up to `limit` may be read.
  std::uint32_t find(const std::uint8_t *bytes, std::size_t size,
                     const std::uint8_t *limit) const {
    return size <= ShortKey::MOST ? find_short(ShortKey(bytes, size, limit))
                                  : find_long(bytes, size);
  }

  // The same for at most ShortKey::MOST bytes.
  std::uint32_t find_short(const ShortKey &key) const {
    const std::uint64_t hash = key.hash(key_);
    if (!may_have(hash))
      return NO_ID;
    for (std::size_t at = hash >> short_shift_;; at = (at + 1) & short_mask_) {
      const Short &entry = short_[at];
      if (entry.key == key)
        return entry.id;
      if (entry.key.is_none())
        return NO_ID;
    }
  }

  // The same for more than ShortKey::MOST bytes.
  std::uint32_t find_long(const std::uint8_t *bytes, std::size_t size) const;

  // Asks for the memory that find_short will look at.
  void prefetch(const ShortKey &key) const {
    const std::uint64_t hash = key.hash(key_);
    if (may_have(hash))
      pretok::prefetch(&short_[hash >> short_shift_]);
  }

private:
  struct Short {
    ShortKey key = ShortKey::none(); // free
    std::uint32_t id = 0;
  };
  struct Long {
    const std::uint8_t *bytes = nullptr; // nullptr: free
    std::size_t size = 0;
    std::uint64_t hash = 0;
    std::uint32_t id = 0;
  };

  bool may_have(std::uint64_t hash) const {
    return filter_[hash >> 20 & filter_mask_] >> (hash >> 14 & 63) & 1;
  }
  std::size_t place_long(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const;
  void grow_long();

  HashKey key_ = hash_key();
  std::vector<Short, HugePages<Short>> short_;
  std::size_t short_mask_ = 0;
  unsigned short_shift_ = 0;
  // A bit for the hash of each short one: it fits where memory is fast.
  std::vector<std::uint64_t> filter_ = {0};
  std::size_t filter_mask_ = 0;
  std::vector<Long> long_;
  std::size_t long_count_ = 0;
  std::size_t longest_ = 0;
};

} // namespace pretok
