// The ids of pre-tokens and segments (merge_barriers.hpp) of up to 15 bytes.
//
// Entries lie in one array in order of insertion. Frequent keys come early, so they share few
// lines of the processor's cache. A table of 32-bit slots finds the entries:
//
//   31          20 19                    0
//  +--------------+-----------------------+
//  |   tag (12)   |  index of entry (20)  |     0: a free slot
//  +--------------+-----------------------+
//
// The high half of a hash selects a bucket of 4 slots; the tag is 12 bits of the low half.
//
// Invariants:
//
// - Entry 0 has no key (ShortKey::none()). It is the result of a failed `look`, and no slot has
// index 0.
//
// - An entry with more than 3 ids spans several array elements. The ids continue in the next
// elements. These elements are not entries of their own, and no slot refers to them.
// entry_span(count) is the number of elements.
//
// - A key goes to the first free slot of its line: its own bucket, then the other 3 buckets of
// the same 64 bytes. If the line is full, the new slot replaces a slot of its own bucket. The
// evicted entry stays in the array, unreachable, until the table grows or is cleared.
//
// - A slot outside its own bucket is invisible to `look`; find_in_line searches the line.
//
// - Slots are filled front to back and never freed one by one. So if the last slot of a bucket
// is free, all keys of the bucket are in this bucket.
//
// - Any pointer to an entry is valid until the next `insert`, which may move the array
// (growing) or clear it (full).
//
// Both arrays start small. When the array of entries is full, both arrays grow. If the account
// refuses more memory (CacheAccount), the cache drops all entries.
#pragma once

#include "core/base/bits.hpp"
#include "core/base/instruction_set.hpp"
#include "core/base/prefetch.hpp"
#include "core/base/short_key.hpp"
#include "core/cache/cache_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>
#endif

namespace pretok {

class ShortCache {
public:
  static constexpr std::size_t MAX_IDS = ShortKey::MAX_BYTES;
  // `copy` may write this many ids more than the entry has.
  static constexpr std::size_t PADDING = 3;

  struct Entry {
    ShortKey key;
    std::uint32_t count;              // of ids
    std::array<std::uint32_t, 3> ids; // further ids continue over the next elements
  };

  // Holds at most 2^max_bits entries of 32 bytes. The slots take a quarter of the memory of the
  // entries. If no memory is available, the cache stays empty.
  ShortCache(unsigned max_bits, CacheAccount &account, const HashKey &key = hash_key());
  ShortCache(const ShortCache &) = delete;
  ShortCache &operator=(const ShortCache &) = delete;
  ~ShortCache();

  // The hash key. All functions take hashes that are computed with it.
  const HashKey &key() const { return key_; }

  // Prefetches the memory that `look` reads.
  void prefetch(std::uint64_t hash) const { pretok::prefetch(bucket(hash)); }

  // Returns the entry whose slot in this bucket has the tag of `hash`, else entry 0. The caller
  // compares keys: another key may have the same tag, and a key may be outside its bucket. The
  // pointer is valid until the next `insert`. Branchless: the outcome is unpredictable.
  const Entry *look(std::uint64_t hash) const {
    const std::uint32_t *slots = bucket(hash);
    const std::uint32_t tag = tag_of(hash);
    // Only a slot with this tag leaves a value below MAX_ENTRIES. If two slots match, the
    // result is the index of one of them, never an OR of both.
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
    const std::uint32_t index = std::min(std::min(slots[0] ^ tag, slots[1] ^ tag),
                                         std::min(slots[2] ^ tag, slots[3] ^ tag));
    return entries_ + (index & (0U - static_cast<std::uint32_t>(index < MAX_ENTRIES)));
#endif
  }

  // Returns the entry of `key`, or nullptr. May miss a key that the cache has: if another slot
  // of its bucket has an equal tag, and the bucket is not full. `insert` then adds the key
  // again.
  const Entry *find(const ShortKey &key, std::uint64_t hash) const {
    const Entry *const first = look(hash);
    return first->key == key ? first : find_in_line(key, hash);
  }

  // The second part of `find`: call it if `look` has returned an entry with another key.
  const Entry *find_in_line(const ShortKey &key, std::uint64_t hash) const {
    // A bucket with a free slot has never overflowed, so no key of it is in another bucket.
    return bucket(hash)[BUCKET_SLOTS - 1] == 0 ? nullptr : scan_line(key, hash);
  }

  // Writes the ids of `entry` to `to`, which must have room for PADDING more ids. Returns the
  // number of ids.
  static std::size_t copy(const Entry &entry, std::uint32_t *to) {
    copy_short(entry, to);
    if (entry.count > entry.ids.size())
      std::memcpy(to, ids_of(entry), entry.count * sizeof *to);
    return entry.count;
  }

  // Writes the ids of `count` entries to `to`, which must have room for PADDING more ids.
  // Returns the end of the ids.
  static std::uint32_t *copy_all(const Entry *const *entries, std::size_t count,
                                 std::uint32_t *to) {
    // Almost all entries have up to three ids. One branch for four entries decides whether
    // all four do.
    for (; count >= 4; count -= 4, entries += 4) {
      const Entry &a = *entries[0];
      const Entry &b = *entries[1];
      const Entry &c = *entries[2];
      const Entry &d = *entries[3];
      if ((a.count | b.count | c.count | d.count) <= a.ids.size()) {
        to += copy_short(a, to);
        to += copy_short(b, to);
        to += copy_short(c, to);
        to += copy_short(d, to);
      } else {
        for (std::size_t i = 0; i < 4; ++i)
          to += copy(*entries[i], to);
      }
    }
    for (; count != 0; --count)
      to += copy(**entries++, to);
    return to;
  }

  // Adds an entry. Does nothing if the cache already has the key, or if `count` exceeds
  // MAX_IDS.
  void insert(const ShortKey &key, std::uint64_t hash, const std::uint32_t *ids,
              std::size_t count);

  // The parts of `look`, for look_up_avx2.cpp, look_up_avx512.cpp and look_up_neon.cpp.
  static constexpr unsigned INDEX_BITS = 20;
  static constexpr std::uint32_t MAX_ENTRIES = 1U << INDEX_BITS;
  const Entry *entries() const { return entries_; }
  // Finds the bucket of a hash. Its keys may overflow to the other buckets of the line. Valid
  // until the next `insert`.
  struct Buckets {
    std::uint32_t *slots;
    std::size_t mask;
    std::uint32_t *of(std::uint64_t hash) const {
      return slots + (static_cast<std::size_t>(hash >> 32) & mask);
    }
  };
  Buckets buckets() const { return {slots_, bucket_mask_}; }
  std::uint32_t *bucket(std::uint64_t hash) const { return buckets().of(hash); }

  // The ids of an entry. If there are more than 3, they continue over the next elements of the
  // array, of which the entry takes entry_span(count).
  static std::uint32_t *ids_of(Entry &entry) {
    return reinterpret_cast<std::uint32_t *>(reinterpret_cast<unsigned char *>(&entry) +
                                             offsetof(Entry, ids));
  }
  static constexpr std::uint32_t entry_span(std::size_t count) {
    return static_cast<std::uint32_t>(
        (offsetof(Entry, ids) + count * sizeof(std::uint32_t) + sizeof(Entry) - 1) /
        sizeof(Entry));
  }

private:
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  static constexpr std::uint32_t MIN_ENTRIES = 1 << 3;
#else
  static constexpr std::uint32_t MIN_ENTRIES = 1 << 8;
#endif
  static constexpr std::uint32_t MIN_HUGE_ENTRIES = 1 << 16; // they fill a huge page
  static constexpr std::size_t BUCKET_SLOTS = 4;
  static constexpr std::size_t LINE_SLOTS = 16; // slots of a line of 64 bytes

  // Like `copy`, but writes only the first three ids.
  static std::size_t copy_short(const Entry &entry, std::uint32_t *to) {
#if PRETOK_SSE2
    // Rotates {count, ids} so that the three ids come first.
    const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i *>(&entry.count));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_shuffle_epi32(all, 0x39));
#elif PRETOK_NEON_KERNELS
    const uint32x4_t all = vld1q_u32(&entry.count);
    vst1q_u32(to, vextq_u32(all, all, 1));
#else
    std::memcpy(to, ids_of(entry), sizeof entry.ids);
#endif
    return entry.count;
  }

  // All ids of the entry, which may extend over the next elements.
  static const unsigned char *ids_of(const Entry &entry) {
    return reinterpret_cast<const unsigned char *>(&entry) + offsetof(Entry, ids);
  }
  // The bits of the hash that a slot stores. `bucket` uses other bits.
  static std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash) & ~(MAX_ENTRIES - 1);
  }
  std::size_t slot_count() const { return bucket_mask_ + BUCKET_SLOTS; }

  static std::size_t entry_bytes(std::size_t capacity) { return capacity * sizeof(Entry); }
  // There are two slots per entry.
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
  // The number of entries charged to the account. If 0, `slots_` and `entries_` point to the
  // constants of short_cache.cpp.
  std::uint32_t capacity_ = 0;
  std::size_t block_size_ = 0; // size of the allocated block of entries, in bytes
  std::size_t bucket_mask_;
  std::uint32_t *slots_;   // tag and index; 0: a free slot
  Entry *entries_;         // entry 0 has no key
  std::uint32_t used_ = 1; // array elements
};

} // namespace pretok
