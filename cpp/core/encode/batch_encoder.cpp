#include "core/encode/batch_encoder.hpp"

#include "core/base/ids.hpp"
#include "core/base/short_key.hpp"
#include "core/bpe/short_merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pretok {

// A pre-token that is not in the cache of short pre-tokens: a miss, or a long one.
struct BatchEncoder::CacheMiss {
  const std::uint8_t *bytes;
  std::size_t size;
  std::uint64_t hash; // long pre-tokens only
  std::size_t count;  // number of ids; for a long pre-token, 0: encode its segments
  std::array<std::uint32_t, ShortKey::MAX_BYTES + ShortCache::PADDING> ids; // short only
  std::uint8_t index; // index in the batch
  bool has_barriers;  // short only: has several segments

  bool is_long() const { return size > ShortKey::MAX_BYTES; }
};

void BatchEncoder::encode(InstructionSet instructions, const PreTokenBatch &batch,
                          PreTokenCache &cache, IdBuffer &ids) const {
  CacheProbe probe;
  look_up(instructions, batch, cache.short_pre_tokens, probe);
  std::array<CacheMiss, PreTokenBatch::MAX_COUNT> misses;
  std::size_t miss_count = 0;
  for (std::size_t j = 0; j < probe.miss_count; ++j) {
    const std::size_t i = probe.misses[j];
    const std::uint8_t *const bytes = batch.text + batch.start_of(i);
    if (batch.is_split_by_character(*bytes))
      continue;
    CacheMiss &miss = misses[miss_count++];
    miss.bytes = bytes;
    miss.size = batch.ends[i] - batch.start_of(i);
    miss.index = probe.misses[j];
    if (miss.is_long()) {
      miss.hash = hash_long(miss.bytes, miss.size, cache.long_pre_tokens.key());
      cache.long_pre_tokens.prefetch(miss.hash);
      continue;
    }
    const ShortCache::Entry *overflowed =
        cache.short_pre_tokens.find_in_line(probe.keys[i], probe.hashes[i]);
    miss.count = overflowed != nullptr ? ShortCache::copy(*overflowed, miss.ids.data()) : 0;
    if (overflowed != nullptr)
      continue;
    // If all tokens are reachable by merging, a pre-token with barriers inside is not a token.
    miss.has_barriers = !segments_.is_one_segment(miss.bytes, miss.size);
    if (!miss.has_barriers || !vocabulary_.all_tokens_reachable())
      vocabulary_.whole_tokens().prefetch(probe.keys[i]);
  }
  if (miss_count != 0)
    encode_misses(misses.data(), miss_count, probe.keys.data(), batch.limit, cache);
  // At most one id per byte, and what `copy` writes beyond.
  std::uint32_t *const first =
      ids.room(batch.ends[batch.count - 1] - batch.start + ShortCache::PADDING);
  std::uint32_t *to = first;
  std::size_t done = 0;
  const CacheMiss *next_miss = misses.data();
  for (std::size_t j = 0; j <= probe.miss_count; ++j) {
    const std::size_t next = j < probe.miss_count ? probe.misses[j] : batch.count;
    for (; done < next; ++done)
      to += ShortCache::copy(*probe.hits[done], to);
    if (j == probe.miss_count)
      break;
    const std::uint8_t *const bytes = batch.text + batch.start_of(done);
    const std::size_t size = batch.ends[done] - batch.start_of(done);
    ++done;
    if (batch.is_split_by_character(*bytes)) {
      to += segments_.encode_segments(bytes, size, batch.limit, cache, to);
      continue;
    }
    const CacheMiss &miss = *next_miss++;
    if (miss.is_long()) {
      if (miss.count == 0) {
        const std::size_t n =
            segments_.encode_segments(miss.bytes, miss.size, batch.limit, cache, to);
        if (miss.size <= LongCache::MAX_BYTES)
          cache.long_pre_tokens.insert(miss.bytes, miss.size, miss.hash, to, n);
        to += n;
      } else {
        to += segments_.encode_long(miss.bytes, miss.size, miss.hash, batch.limit, cache, to);
      }
    } else {
      std::memcpy(to, miss.ids.data(), ShortCache::PADDING * sizeof *to);
      if (miss.count > ShortCache::PADDING)
        std::copy_n(miss.ids.data(), miss.count, to);
      to += miss.count;
    }
  }
  ids.add(static_cast<std::size_t>(to - first));
  // Last, since inserting may move the entries that probe.hits points to.
  for (std::size_t j = 0; j < miss_count; ++j) {
    const CacheMiss &miss = misses[j];
    if (!miss.is_long())
      cache.short_pre_tokens.insert(probe.keys[miss.index], probe.hashes[miss.index],
                                    miss.ids.data(), miss.count);
  }
}

void BatchEncoder::encode_misses(CacheMiss *misses, std::size_t miss_count,
                                 const ShortKey *keys, const std::uint8_t *limit,
                                 PreTokenCache &cache) const {
  const OrderedMerges *const merges = vocabulary_.ordered();
  std::array<std::uint8_t, PreTokenBatch::MAX_COUNT> to_merge;
  std::size_t count = 0;
  for (std::size_t j = 0; j < miss_count; ++j) {
    CacheMiss &miss = misses[j];
    std::uint32_t *const ids = miss.ids.data();
    if (miss.is_long()) {
      miss.count = 1;
      if (merges == nullptr || cache.long_pre_tokens.has(miss.bytes, miss.size, miss.hash))
        continue;
      if (!segments_.is_one_segment(miss.bytes, miss.size))
        miss.count = vocabulary_.all_tokens_reachable() ? 0 : 1;
      else if (miss.size <= ShortMerge::MAX_BYTES)
        to_merge[count++] = static_cast<std::uint8_t>(j);
      continue;
    }
    if (miss.count != 0)
      continue;
    ids[0] = miss.has_barriers && vocabulary_.all_tokens_reachable()
                 ? NO_ID
                 : vocabulary_.whole_tokens().find_short(keys[miss.index]);
    if (ids[0] != NO_ID)
      miss.count = 1;
    else if (miss.has_barriers)
      miss.count = segments_.encode_segments(miss.bytes, miss.size, limit, cache, ids);
    else if (merges == nullptr)
      miss.count = vocabulary_.merge(miss.bytes, miss.size, ids);
    else
      to_merge[count++] = static_cast<std::uint8_t>(j);
  }
  if (count == 0)
    return;
  std::size_t started = 0;
  const auto next = [&](const std::uint8_t *&bytes, std::size_t &size) {
    if (started == count)
      return false;
    const CacheMiss &miss = misses[to_merge[started++]];
    bytes = miss.bytes;
    size = miss.size;
    return true;
  };
  const auto done = [&](std::size_t which, const ShortMerge &merge) {
    CacheMiss &miss = misses[to_merge[which]];
    if (!miss.is_long()) {
      miss.count = merge.finish(*merges, miss.ids.data());
      return;
    }
    // encode_long finds the ids in this cache.
    std::array<std::uint32_t, ShortMerge::MAX_BYTES> ids;
    cache.long_pre_tokens.insert(miss.bytes, miss.size, miss.hash, ids.data(),
                                 merge.finish(*merges, ids.data()));
  };
  merge_interleaved(*merges, *vocabulary_.barriers(), next, done);
}

} // namespace pretok
