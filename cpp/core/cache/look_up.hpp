// Looks up a batch of pre-tokens in a ShortCache. Each step prefetches what the next step
// reads.
#pragma once

#include "core/base/instruction_set.hpp"
#include "core/cache/short_cache.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Consecutive pre-tokens, or segments of pre-tokens (merge_barriers.hpp), of a text.
struct PreTokenBatch {
  static constexpr std::size_t MAX_COUNT = 256;

  const std::uint8_t *text;
  const std::uint8_t *limit; // end of the readable memory
  std::size_t start;         // start of the first pre-token, in bytes of `text`
  const std::size_t *ends;   // end of each pre-token, in bytes of `text`
  std::size_t count;         // at most MAX_COUNT
  // The added tokens of the batch, by ascending index. They are not looked up. An item with
  // NO_ID is not an added token, but text that the pre-tokenizer drops: it gets no id.
  struct Added {
    std::uint32_t id;
    std::uint8_t index;
  };
  const Added *added;
  std::size_t added_count;

  std::size_t start_of(std::size_t i) const { return i == 0 ? start : ends[i - 1]; }
  std::size_t size_of(std::size_t i) const { return ends[i] - start_of(i); }
  // Returns the number of pre-tokens before the first one with fewer than 16 readable bytes
  // from its start on. A vector may load the bytes of the pre-tokens before it.
  std::size_t count_of_loadable() const {
    const auto room = static_cast<std::size_t>(limit - text);
    std::size_t loadable = count;
    while (loadable != 0 && start_of(loadable - 1) + ShortBytes::MAX_BYTES > room)
      --loadable;
    return loadable;
  }
};

// The result of looking up a PreTokenBatch.
struct CacheProbe {
  // look_up_avx512 writes 64 indices at once, even if only the first few are misses. So
  // `misses` has room for 64 more.
  static constexpr std::size_t MISS_PADDING = 64;

  // The key of each pre-token, or none() for a pre-token that is too long for a key.
  alignas(64) std::array<ShortKey, PreTokenBatch::MAX_COUNT> keys;
  std::array<std::uint64_t, PreTokenBatch::MAX_COUNT> hashes;
  // The entry of each pre-token that the cache has. For a miss: entry 0, or an entry with
  // another key.
  std::array<const ShortCache::Entry *, PreTokenBatch::MAX_COUNT> hits;
  // The indices of the `miss_count` pre-tokens that the cache lacks.
  std::array<std::uint8_t, PreTokenBatch::MAX_COUNT + MISS_PADDING> misses;
  std::size_t miss_count;

  // The three steps of a look-up. Each step handles the pre-tokens from index `from` on.
  void make_keys(const PreTokenBatch &batch, std::size_t from, const ShortCache &cache) {
    // Local copies, here and below: the compiler would load a field again after each store.
    const HashKey key = cache.key();
    const ShortCache::Buckets buckets = cache.buckets();
    const PreTokenBatch all = batch;
    std::size_t start = from < all.count ? all.start_of(from) : 0;
    for (std::size_t i = from; i < all.count; ++i) {
      const std::size_t size = all.ends[i] - start;
      // A key of size 0 is none().
      keys[i] = ShortKey(all.text + start, size > ShortKey::MAX_BYTES ? 0 : size, all.limit);
      const std::uint64_t hash = keys[i].hash(key);
      hashes[i] = hash;
      prefetch(buckets.of(hash));
      start = all.ends[i];
    }
  }
  void look(const PreTokenBatch &batch, std::size_t from, const ShortCache &cache) {
    const std::size_t count = batch.count;
    for (std::size_t i = from; i < count; ++i) {
      hits[i] = cache.look(hashes[i]);
      prefetch(hits[i]);
    }
  }
  void list_misses(const PreTokenBatch &batch, std::size_t from) {
    const std::size_t count = batch.count;
    std::size_t listed = miss_count;
    for (std::size_t i = from; i < count; ++i) {
      misses[listed] = static_cast<std::uint8_t>(i);
      // The key none() equals the key of entry 0, but is a miss.
      listed += hits[i]->key == keys[i] ? keys[i].is_none() : 1U;
    }
    miss_count = listed;
  }
};

// Looks up the whole batch. If two slots of a bucket have equal tags, each instruction set may
// find another one of them, so the hits may depend on `instructions`. The ids of a pre-token
// never do: list_misses compares the keys, and callers encode the misses.
void look_up(InstructionSet instructions, const PreTokenBatch &batch, const ShortCache &cache,
             CacheProbe &probe);

#if PRETOK_X86_KERNELS
void look_up_avx2(const PreTokenBatch &batch, const ShortCache &cache, CacheProbe &probe);
void look_up_avx512(const PreTokenBatch &batch, const ShortCache &cache, CacheProbe &probe);
#endif
#if PRETOK_NEON_KERNELS
void look_up_neon(const PreTokenBatch &batch, const ShortCache &cache, CacheProbe &probe);
#endif

} // namespace pretok
