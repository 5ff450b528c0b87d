// A hash table from the bytes of a token to its id.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/huge_pages.hpp"
#include "core/base/ids.hpp"
#include "core/base/prefetch.hpp"
#include "core/base/short_key.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class TokenTable {
public:
  // Empties the table and reserves room for `count` tokens.
  void reset(std::size_t count, const HashKey &key = hash_key());

  bool is_empty() const { return count_ == 0; }

  // Stores only a pointer to the bytes of a token longer than ShortKey::MAX_BYTES. Changes
  // nothing if the table has a token with equal bytes. May read memory up to `limit`.
  void insert(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
              std::uint32_t id);

  // Like insert, for a token of at most ShortKey::MAX_BYTES bytes.
  void insert_short(const ShortKey &key, std::uint32_t id);

  // Prefetches the memory that insert_short will write.
  void prepare(const ShortKey &key) const {
    pretok::prefetch(&short_[key.hash(key_) >> short_shift_]);
  }

  // Returns the id of the token with these bytes, or NO_ID. May read memory up to `limit`.
  std::uint32_t find(const std::uint8_t *bytes, std::size_t size,
                     const std::uint8_t *limit) const {
    return size <= ShortKey::MAX_BYTES ? find_short(ShortKey(bytes, size, limit))
                                       : find_long(bytes, size);
  }

  // Like find, for at most ShortKey::MAX_BYTES bytes.
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

  // Like `find`, for more than ShortKey::MAX_BYTES bytes.
  std::uint32_t find_long(const std::uint8_t *bytes, std::size_t size) const;

  // Prefetches the memory that find_short will read.
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
  std::size_t long_slot(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const;
  void grow_long();

  HashKey key_ = hash_key();
  std::vector<Short, HugePages<Short>> short_;
  std::size_t short_mask_ = 0;
  unsigned short_shift_ = 0;
  // A Bloom filter with one bit per short token. It fits in the processor's cache.
  std::vector<std::uint64_t> filter_ = {0};
  std::size_t filter_mask_ = 0;
  std::vector<Long> long_;
  std::size_t long_count_ = 0;
  std::size_t count_ = 0; // of all tokens
  std::size_t longest_ = 0;
};

} // namespace pretok
