// What became of up to 15 bytes: a table with two places for each hash, in one line of the
// processor's cache, and two more in the line beside it, where what is displaced goes. It
// begins small and grows with what it holds, up to a limit.
#pragma once

#include "prefetch.hpp"
#include "token_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

class ShortCache {
public:
  static constexpr std::size_t MOST_IDS = 10; // of more, nothing is kept

  struct Entry {
    ShortKey key;
    std::array<std::uint32_t, 3> ids;
    std::uint32_t count; // if more than 3, the others are in the entry behind
  };

  // At most 2^`most_bits` lines of 64 bytes.
  explicit ShortCache(unsigned most_bits) : most_bits_(most_bits) { allocate(FIRST_BITS); }
  ShortCache(const ShortCache &) = delete;
  ShortCache &operator=(const ShortCache &) = delete;
  ~ShortCache();

  void prefetch(std::uint64_t hash) const { pretok::prefetch(line(hash)); }

  // What is kept of `key`; or, if nothing is, some entry whose key is another one. Good until
  // something else is kept. Without branches.
  const Entry *look(const ShortKey &key, std::uint64_t hash) const {
    const Entry *pair = line(hash);
    return pair + !(pair[0].key == key);
  }

  // What is kept, or nullptr, but for what was displaced.
  const Entry *find(const ShortKey &key, std::uint64_t hash) const {
    const Entry *found = look(key, hash);
    return found->key == key ? found : nullptr;
  }

  // The same for what was displaced: writes its ids to `to` as `copy` does, or returns 0.
  std::size_t copy_displaced(const ShortKey &key, std::uint64_t hash, std::uint32_t *to) const {
    const Entry *pair = beside(line(hash));
    return pair[0].key == key ? copy(pair[0], to) : pair[1].key == key ? copy(pair[1], to) : 0;
  }

  // Writes the ids of `entry` to `to`, where there must be room for MOST_IDS; returns how many
  // they are.
  static std::size_t copy(const Entry &entry, std::uint32_t *to) {
    std::memcpy(to, entry.ids.data(), sizeof entry.ids + sizeof entry.count);
    if (entry.count > entry.ids.size())
      copy_more(*(&entry + 1), to + entry.ids.size());
    return entry.count;
  }

  // Keeps up to MOST_IDS ids; what is in the way is displaced.
  void insert(const ShortKey &key, std::uint64_t hash, const std::uint32_t *ids,
              std::size_t count);

private:
  static constexpr unsigned FIRST_BITS = 10;
  static constexpr unsigned LARGE_BITS = 16;
  // In place of a size: what follows are ids of the entry before.
  static constexpr std::uint64_t MORE = std::uint64_t{0xFF} << ShortKey::SIZE_SHIFT;
  static constexpr unsigned ID_SHIFT = LITTLE_ENDIAN_BYTES ? 0 : 32;

  static void copy_more(const Entry &more, std::uint32_t *to) {
    to[0] = static_cast<std::uint32_t>(more.key.low);
    to[1] = static_cast<std::uint32_t>(more.key.low >> 32);
    to[2] = static_cast<std::uint32_t>(more.key.high >> ID_SHIFT);
    std::memcpy(to + 3, more.ids.data(), sizeof more.ids + sizeof more.count);
  }
  static bool is_more(const Entry &entry) { return (entry.key.high & MORE) == MORE; }

  Entry *line(std::uint64_t hash) const { return entries_ + (hash >> shift_) * 2; }
  Entry *beside(const Entry *pair) const {
    return entries_ + (static_cast<std::size_t>(pair - entries_) ^ 2);
  }
  void allocate(unsigned bits); // empty lines
  void grow();
  void keep(const Entry &entry, const Entry &more);
  static void put(Entry *pair, const Entry &entry, const Entry &more);

  unsigned most_bits_;
  unsigned shift_ = 0;
  void *memory_ = nullptr;
  Entry *entries_ = nullptr;
  std::size_t kept_ = 0; // since it grew
};

} // namespace pretok
