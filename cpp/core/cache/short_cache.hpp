// What became of up to 15 bytes: entries one behind the other as they come, so that what is
// frequent, and came early, shares few lines of the processor's cache, and a small table that
// says where they are. Both begin small and grow when the entries are full, as far as the
// account allows. If it does not, all entries are dropped.
#pragma once

#include "core/base/bits.hpp"
#include "core/base/prefetch.hpp"
#include "core/base/short_key.hpp"
#include "core/cache/cache_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

class ShortCache {
public:
  static constexpr std::size_t MAX_IDS = ShortKey::MAX_BYTES;
  // How much is written behind the ids that are copied, at most.
  static constexpr std::size_t PADDING = 3;

  struct Entry {
    ShortKey key;
    std::uint32_t count;              // of ids
    std::array<std::uint32_t, 3> ids; // of more, the others are behind, in index of entries
  };

  // At most 2^`max_bits` entries of 32 bytes, and a quarter of that for the table. Without
  // memory it keeps nothing.
  ShortCache(unsigned max_bits, CacheAccount &account, const HashKey &key = hash_key());
  ShortCache(const ShortCache &) = delete;
  ShortCache &operator=(const ShortCache &) = delete;
  ~ShortCache();

  // The key of the hashes that all functions are given.
  const HashKey &key() const { return key_; }

  // Asks for the memory that look will read.
  void prefetch(std::uint64_t hash) const { pretok::prefetch(bucket(hash)); }

  // What is kept of `key`, but for what had to give way in the table; or, if nothing is, some
  // entry with another key. Good until something else is kept. Without branches.
  const Entry *look(std::uint64_t hash) const {
    const std::uint32_t *slots = bucket(hash);
    const std::uint32_t tag = tag_of(hash);
    // Only a slot with this tag leaves no more than a index. Of two such slots one counts: both
    // together would be the index of no entry.
#if PRETOK_SSE2
    const __m128i left = _mm_xor_si128(_mm_load_si128(reinterpret_cast<const __m128i *>(slots)),
                                       _mm_set1_epi32(static_cast<int>(tag)));
    const __m128i is_index =
        _mm_cmpeq_epi32(_mm_srli_epi32(left, INDEX_BITS), _mm_setzero_si128());
    __m128i index = _mm_and_si128(left, is_index);
    index = _mm_or_si128(index, _mm_andnot_si128(is_index, _mm_shuffle_epi32(index, 0x4E)));
    const __m128i either = _mm_or_si128(is_index, _mm_shuffle_epi32(is_index, 0x4E));
    index = _mm_or_si128(index, _mm_andnot_si128(either, _mm_shuffle_epi32(index, 0xB1)));
    return entries_ + static_cast<std::uint32_t>(_mm_cvtsi128_si32(index));
#else
    const std::uint32_t found = std::min(std::min(slots[0] ^ tag, slots[1] ^ tag),
                                         std::min(slots[2] ^ tag, slots[3] ^ tag));
    return entries_ + (found & (0U - static_cast<std::uint32_t>(found < MAX_ENTRIES)));
#endif
  }

  // What is kept of `key`, or nullptr.
  const Entry *find(const ShortKey &key, std::uint64_t hash) const {
    const Entry *const first = look(hash);
    return first->key == key ? first : find_in_line(key, hash);
  }

  // The same where `look` gave an entry with another key.
  const Entry *find_in_line(const ShortKey &key, std::uint64_t hash) const {
    // As long as there is room in a bucket, nothing gives way.
    return bucket(hash)[BUCKET_SLOTS - 1] == 0 ? nullptr : scan_line(key, hash);
  }

  // Writes the ids of `entry` to `to`, where there must be room for PADDING more; returns how
  // many they are.
  static std::size_t copy(const Entry &entry, std::uint32_t *to) {
#if PRETOK_SSE2
    // The count comes behind the three.
    const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i *>(&entry.count));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_shuffle_epi32(all, 0x39));
#else
    std::memcpy(to, ids_of(entry), sizeof entry.ids);
#endif
    if (entry.count > entry.ids.size())
      std::memcpy(to, ids_of(entry), entry.count * sizeof *to);
    return entry.count;
  }

  // Keeps up to MAX_IDS ids.
  void insert(const ShortKey &key, std::uint64_t hash, const std::uint32_t *ids,
              std::size_t count);

  // What look does, for those who do it for several at a time.
  static constexpr unsigned INDEX_BITS = 20;
  static constexpr std::uint32_t MAX_ENTRIES = 1U << INDEX_BITS; // entries
  const Entry *entries() const { return entries_; }
  // The slots where a hash belongs; the others of their line have what finds no room there.
  std::uint32_t *bucket(std::uint64_t hash) const {
    return slots_ + (static_cast<std::size_t>(hash >> 32) & bucket_mask_);
  }

private:
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  static constexpr std::uint32_t MIN_ENTRIES = 1 << 3;
#else
  static constexpr std::uint32_t MIN_ENTRIES = 1 << 8;
#endif
  static constexpr std::uint32_t MIN_HUGE_ENTRIES = 1 << 16; // entries: they fill a huge page
  static constexpr std::size_t BUCKET_SLOTS = 4;             // slots
  static constexpr std::size_t LINE_SLOTS = 16;              // slots

  // All of them, which are in more than this entry.
  static const unsigned char *ids_of(const Entry &entry) {
    return reinterpret_cast<const unsigned char *>(&entry) + offsetof(Entry, ids);
  }
  // How many entry_span an entry with this many ids takes.
  static std::uint32_t entry_span(std::size_t count) {
    return static_cast<std::uint32_t>(
        (offsetof(Entry, ids) + count * sizeof(std::uint32_t) + sizeof(Entry) - 1) /
        sizeof(Entry));
  }

  // Other bits of the hash than those that tell the bucket, where a slot has them.
  static std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash) & ~(MAX_ENTRIES - 1);
  }
  std::size_t slot_count() const { return bucket_mask_ + BUCKET_SLOTS; }

  static std::size_t entry_bytes(std::size_t capacity) { return capacity * sizeof(Entry); }
  // Two slots an entry.
  static std::size_t slot_bytes(std::size_t capacity) {
    return 2 * capacity * sizeof(std::uint32_t);
  }

  const Entry *scan_line(const ShortKey &key, std::uint64_t hash) const;
  bool grow();
  void free_slots();
  void free_entries();
  void clear();
  void put(std::uint64_t hash, std::uint32_t index);
  void put_all();

  HashKey key_;
  CacheAccount &account_;
  std::uint32_t max_entries_;
  std::uint32_t capacity_ =
      0; // entries that are paid for; 0: `slots_` and `entries_` are constants
  std::size_t block_size_ = 0; // bytes of the entries, some of which may be addresses only
  std::size_t bucket_mask_;
  std::uint32_t *slots_;   // tag and index; 0: free
  Entry *entries_;         // the first has no key
  std::uint32_t used_ = 1; // entry_span
};

} // namespace pretok
