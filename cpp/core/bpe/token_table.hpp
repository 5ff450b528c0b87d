// A hash table from the bytes of a token to its id.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/ids.hpp"
#include "core/base/open_table.hpp"
#include "core/base/short_key.hpp"
#include "core/bpe/token_view.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class TokenTable {
public:
  // `tokens` has the bytes of each token, by id. It must outlive the table.
  explicit TokenTable(const std::vector<TokenView> &tokens) : tokens_(tokens) {}

  // Replaces the contents by the tokens with these ids. If several tokens have equal bytes, the
  // table has the one that comes first in `ids`. May read the memory after the bytes of a
  // token, up to `limit`.
  void assign(const std::vector<std::uint32_t> &ids, const std::uint8_t *limit);

  // Returns the size of the longest token in bytes, or 0 if the table is empty.
  std::size_t longest() const { return longest_; }
  bool is_empty() const { return slots_.size() == 0; }

  // Returns the id of the token with these bytes, or NO_ID. May read memory up to `limit`.
  std::uint32_t find(const std::uint8_t *bytes, std::size_t size,
                     const std::uint8_t *limit) const {
    return size <= ShortKey::MAX_BYTES ? find_short(ShortKey(bytes, size, limit))
                                       : find_long(bytes, size);
  }

  // Like `find`, for at most ShortKey::MAX_BYTES bytes.
  std::uint32_t find_short(const ShortKey &key) const {
    const std::uint64_t hash = key.hash(key_);
    if (filter_.may_have(hash) == 0)
      return NO_ID;
    return slots_.find(hash, [&](const Slot &slot) { return slot.key == key; }).id;
  }

  // Like `find`, for more than ShortKey::MAX_BYTES bytes.
  std::uint32_t find_long(const std::uint8_t *bytes, std::size_t size) const;

  // Prefetch the memory that find_short will read: first the filter, then the slot.
  void prefetch_filter(const ShortKey &key) const { filter_.prefetch(key.hash(key_)); }
  void prefetch_slot(const ShortKey &key) const {
    const std::uint64_t hash = key.hash(key_);
    if (filter_.may_have(hash) != 0)
      slots_.prefetch(hash);
  }

private:
  struct Slot {
    ShortKey key = ShortKey::none();
    std::uint32_t id = NO_ID;

    bool is_free() const { return key.is_none(); }
  };

  bool is_match(const Slot &slot, const ShortKey &key, const std::uint8_t *bytes,
                std::size_t size) const;

  const std::vector<TokenView> &tokens_;
  HashKey key_ = hash_key();
  OpenTable<Slot> slots_;
  BitFilter filter_;
  std::size_t longest_ = 0; // size of the longest token; find_long skips longer byte strings
};

} // namespace pretok
