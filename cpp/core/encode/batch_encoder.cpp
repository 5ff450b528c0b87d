#include "core/encode/batch_encoder.hpp"

#include "core/base/ids.hpp"
#include "core/base/noinline.hpp"
#include "core/base/short_key.hpp"
#include "core/bpe/short_merge.hpp"

#include <algorithm>
#include <array>

namespace pretok {

namespace {

// Returns whether more than an eighth of the pre-tokens end in a character from U+3000 to
// U+9FFF: three bytes of UTF-8, the first from 0xE3 to 0xE9. Most pre-tokens of Chinese and
// Japanese are new, but merge barriers divide them into known segments (merge_barriers.hpp).
// The answer affects only the speed, so only some of the pre-tokens count.
bool is_chinese(const PreTokenBatch &batch) {
  const std::size_t step = batch.count < 8 ? 2 : batch.count < 64 ? 4 : 16;
  std::size_t seen = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < batch.count; i += step) {
    const std::size_t last = std::min(batch.size_of(i), std::size_t{3});
    const std::uint8_t lead = batch.text[batch.ends[i] - last];
    count += static_cast<std::uint8_t>(lead - 0xE3) < 0xEA - 0xE3;
    ++seen;
  }
  return 8 * count > seen;
}

// Returns the maximum number of ids of a batch: one id for each byte of a pre-token, one id for
// each added token, and the padding of ShortCache::copy.
std::size_t max_ids_of(const PreTokenBatch &batch) {
  std::size_t max_ids = batch.ends[batch.count - 1] - batch.start + ShortCache::PADDING;
  for (std::size_t i = 0; i < batch.added_count; ++i)
    max_ids -= batch.size_of(batch.added[i].index) - 1;
  return max_ids;
}

// A hit is an item of a batch that the cache has, and a miss is an item that it lacks. Makes
// each added token a hit: an entry with its id, or without ids if its id is NO_ID. Removes
// added tokens from the misses. `entries`
// has room for all added tokens.
void place_added(const PreTokenBatch &batch, CacheProbe &probe, ShortCache::Entry *entries) {
  for (std::size_t i = 0; i < batch.added_count; ++i) {
    entries[i].count = batch.added[i].id != NO_ID ? 1 : 0;
    entries[i].ids[0] = batch.added[i].id;
    probe.hits[batch.added[i].index] = &entries[i];
  }
  const std::size_t miss_count = probe.miss_count;
  probe.miss_count = 0;
  const PreTokenBatch::Added *added = batch.added;
  const PreTokenBatch::Added *const end = added + batch.added_count;
  for (std::size_t j = 0; j < miss_count; ++j) {
    const std::uint8_t miss = probe.misses[j];
    while (added != end && added->index < miss)
      ++added;
    if (added == end || added->index != miss)
      probe.misses[probe.miss_count++] = miss;
  }
}

} // namespace

// A pre-token or segment that look_up did not find: it is not in the ShortCache, or is too long
// for a ShortCache.
struct BatchEncoder::CacheMiss {
  // Says where the ids of the miss come from: `entry` has them, or SegmentEncoder::encode_long
  // or SegmentEncoder::encode_segments writes them.
  enum class Source : std::uint8_t { ENTRY, LONG_CACHE, SEGMENTS };
  static constexpr std::size_t MAX_IDS = ShortKey::MAX_BYTES + ShortCache::PADDING;

  // One entry, as in the array of a ShortCache: its ids continue in the next elements. Its
  // `count` is 0 until the ids are known.
  alignas(16) std::array<ShortCache::Entry, 3> entry; // ShortCache::copy loads 16 bytes at once
  static_assert(ShortCache::entry_span(MAX_IDS) <= 3, "the entry has room for MAX_IDS");
  const std::uint8_t *bytes;
  std::size_t size;
  std::uint64_t hash; // only if is_long()
  Source source;
  std::uint8_t index; // index in the batch

  bool is_long() const { return size > ShortKey::MAX_BYTES; }
  std::uint32_t &count() { return entry[0].count; } // of ids
  std::uint32_t *ids() { return ShortCache::ids_of(entry[0]); }
  void set_count(std::size_t count) { entry[0].count = static_cast<std::uint32_t>(count); }
  // Sets the number of ids of a long pre-token, which are in the LongCache too. If there are
  // more than MAX_IDS, encode_long copies them.
  void set_long_count(std::size_t count) {
    set_count(count);
    source = count <= MAX_IDS ? Source::ENTRY : Source::LONG_CACHE;
  }
  void set_id(std::uint32_t id) {
    entry[0].ids[0] = id;
    set_count(id != NO_ID ? 1 : 0);
  }
};

// The misses of a batch. New words often occur several times within a batch, so equal misses of
// up to 15 bytes mostly share one CacheMiss.
struct BatchEncoder::CacheMisses {
  std::array<CacheMiss, PreTokenBatch::MAX_COUNT> distinct;
  std::size_t count = 0; // of `distinct`
  // For each miss in CacheProbe::misses, its index in `distinct`.
  std::array<std::uint8_t, PreTokenBatch::MAX_COUNT> which;
};

void BatchEncoder::encode(InstructionSet instructions, const PreTokenBatch &batch,
                          PreTokenCache &cache, IdBuffer &ids) const {
  if (takes_segments_)
    encode_units(Unit::SEGMENT, instructions, batch, cache, ids);
  else if (vocabulary_.barriers() != nullptr && is_chinese(batch))
    encode_by_segments(instructions, batch, cache, ids);
  else
    encode_units(Unit::PRE_TOKEN, instructions, batch, cache, ids);
}

// Divides the pre-tokens of `batch` into segments, and encodes the segments. A pre-token that
// is an unreachable token becomes its id. The ids of any other pre-token are the ids of its
// segments.
void BatchEncoder::encode_by_segments(InstructionSet instructions, const PreTokenBatch &batch,
                                      PreTokenCache &cache, IdBuffer &ids) const {
  std::array<std::size_t, PreTokenBatch::MAX_COUNT> ends;
  std::array<PreTokenBatch::Added, PreTokenBatch::MAX_COUNT> added;
  PreTokenBatch segments{batch.text, batch.limit, batch.start, ends.data(), 0, added.data(), 0};
  const auto flush = [&] {
    if (segments.count == 0)
      return;
    encode_units(Unit::SEGMENT, instructions, segments, cache, ids);
    segments.start = ends[segments.count - 1];
    segments.count = segments.added_count = 0;
  };
  const TokenTable &unreachable = vocabulary_.unreachable_tokens();
  const PreTokenBatch::Added *next = batch.added;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const std::size_t start = batch.start_of(i);
    const std::uint8_t *const bytes = batch.text + start;
    const std::size_t size = batch.size_of(i);
    const bool is_added = next != batch.added + batch.added_count && next->index == i;
    std::uint32_t id = NO_ID;
    if (is_added)
      id = next++->id;
    else if (!unreachable.is_empty())
      id = unreachable.find(bytes, size, batch.limit);
    if (is_added || id != NO_ID)
      added[segments.added_count++] = {id, static_cast<std::uint8_t>(segments.count)};
    else
      vocabulary_.barriers()->for_boundaries(bytes, size, [&](std::size_t at, bool is_barrier) {
        ends[segments.count] = start + at; // branchless: barriers are unpredictable
        segments.count += is_barrier ? 1 : 0;
        if (segments.count == ends.size())
          flush();
      });
    ends[segments.count++] = start + size;
    if (segments.count == ends.size())
      flush();
  }
  flush();
}

// Looks up all items of `batch`, and merges the misses. Appends the ids of all items to `ids`,
// and adds the misses to the caches.
void BatchEncoder::encode_units(Unit unit, InstructionSet instructions,
                                const PreTokenBatch &batch, PreTokenCache &cache,
                                IdBuffer &ids) const {
  // Without unreachable tokens, a pre-token and a segment with equal bytes have equal ids, so
  // one cache serves both.
  ShortCache &short_cache =
      unit == Unit::PRE_TOKEN || vocabulary_.unreachable_tokens().is_empty()
          ? cache.short_pre_tokens
          : cache.segments;
  CacheProbe probe;
  look_up(instructions, batch, short_cache, probe);
  // Short texts mostly have only hits. They need little stack, and so few lines of the
  // processor's cache.
  if (probe.miss_count != 0 || batch.added_count != 0)
    return encode_with_misses(unit, batch, probe, short_cache, cache, ids);
  std::uint32_t *const first = ids.room(max_ids_of(batch));
  const std::uint32_t *const end = ShortCache::copy_all(probe.hits.data(), batch.count, first);
  ids.add(static_cast<std::size_t>(end - first));
}

// The second part of encode_units, for a batch with misses or added tokens.
PRETOK_NOINLINE void BatchEncoder::encode_with_misses(Unit unit, const PreTokenBatch &batch,
                                                      CacheProbe &probe,
                                                      ShortCache &short_cache,
                                                      PreTokenCache &cache,
                                                      IdBuffer &ids) const {
  alignas(16) std::array<ShortCache::Entry, PreTokenBatch::MAX_COUNT> added;
  place_added(batch, probe, added.data());
  CacheMisses misses;
  collect_misses(unit, batch, probe, short_cache, cache, misses);
  encode_misses(unit, batch, probe, cache, misses);
  place_entries(probe, misses);
  std::uint32_t *const first = ids.room(max_ids_of(batch));
  std::uint32_t *to = first;
  std::size_t done = 0;
  for (std::size_t j = 0; j <= probe.miss_count; ++j) {
    const std::size_t next = j < probe.miss_count ? probe.misses[j] : batch.count;
    to = ShortCache::copy_all(probe.hits.data() + done, next - done, to);
    if (j == probe.miss_count)
      break;
    done = next + 1;
    const CacheMiss &miss = misses.distinct[misses.which[j]];
    if (miss.source == CacheMiss::Source::LONG_CACHE) {
      to += segment_encoder_.encode_long(miss.bytes, miss.size, miss.hash, cache, to);
    } else {
      const std::size_t count =
          segment_encoder_.encode_segments(miss.bytes, miss.size, batch.limit, cache, to);
      if (miss.size <= LongCache::MAX_BYTES)
        cache.long_pre_tokens.insert(miss.bytes, miss.size, miss.hash, to, count);
      to += count;
    }
  }
  ids.add(static_cast<std::size_t>(to - first));
  // Insert after copying the ids: `insert` may move the entries that probe.hits points to.
  for (std::size_t j = 0; j < misses.count; ++j) {
    CacheMiss &miss = misses.distinct[j];
    if (!miss.is_long())
      short_cache.insert(probe.keys[miss.index], probe.hashes[miss.index], miss.ids(),
                         miss.count());
  }
}

// Makes each miss with an entry a hit, and removes it from the misses.
void BatchEncoder::place_entries(CacheProbe &probe, CacheMisses &misses) {
  const std::size_t miss_count = probe.miss_count;
  probe.miss_count = 0;
  for (std::size_t j = 0; j < miss_count; ++j) {
    const std::uint8_t which = misses.which[j];
    const CacheMiss &miss = misses.distinct[which];
    probe.hits[probe.misses[j]] = miss.entry.data();
    // Branchless for long pre-tokens: it is unpredictable which of them have an entry.
    probe.misses[probe.miss_count] = probe.misses[j];
    misses.which[probe.miss_count] = which;
    probe.miss_count += miss.source != CacheMiss::Source::ENTRY ? 1 : 0;
  }
}

// Fills `misses`. Sets the ids of misses that are known already: unreachable tokens, and keys
// outside their bucket of the cache. Prefetches the memory that encode_misses reads first.
void BatchEncoder::collect_misses(Unit unit, const PreTokenBatch &batch,
                                  const CacheProbe &probe, const ShortCache &short_cache,
                                  const PreTokenCache &cache, CacheMisses &misses) const {
  const TokenTable &unreachable = vocabulary_.unreachable_tokens();
  const bool are_pre_tokens = unit == Unit::PRE_TOKEN;
  // Maps 8 bits of a hash to the index in `misses.distinct` of the last miss with these bits.
  // An index of `misses.count` or more stands for no miss, as the initial index does
  // throughout.
  std::array<std::uint8_t, 256> last;
  last.fill(PreTokenBatch::MAX_COUNT - 1);
  for (std::size_t j = 0; j < probe.miss_count; ++j) {
    const std::size_t i = probe.misses[j];
    const ShortKey &key = probe.keys[i];
    std::uint8_t &which = last[probe.hashes[i] & 0xFF];
    const bool is_repeated = which < misses.count && !key.is_none() &&
                             probe.keys[misses.distinct[which].index] == key;
    if (!is_repeated)
      which = static_cast<std::uint8_t>(misses.count);
    misses.which[j] = which;
    if (is_repeated)
      continue;
    CacheMiss &miss = misses.distinct[misses.count++];
    miss.bytes = batch.text + batch.start_of(i);
    miss.size = batch.size_of(i);
    miss.index = probe.misses[j];
    miss.source = CacheMiss::Source::ENTRY;
    miss.set_count(0);
    if (miss.is_long()) {
      if (are_pre_tokens)
        miss.set_id(unreachable.find_long(miss.bytes, miss.size));
      if (miss.count() == 0) {
        miss.source = CacheMiss::Source::LONG_CACHE;
        miss.hash = hash_long(miss.bytes, miss.size, cache.long_pre_tokens.key());
        cache.long_pre_tokens.prefetch(miss.hash);
      }
    } else if (const ShortCache::Entry *overflowed =
                   short_cache.find_in_line(key, probe.hashes[i])) {
      miss.set_count(ShortCache::copy(*overflowed, miss.ids()));
    } else {
      if (are_pre_tokens)
        miss.set_id(unreachable.find_short(key));
      vocabulary_.whole_tokens().prefetch_filter(key);
    }
  }
}

// Sets the ids of each miss, or its Source.
void BatchEncoder::encode_misses(Unit unit, const PreTokenBatch &batch, const CacheProbe &probe,
                                 PreTokenCache &cache, CacheMisses &misses) const {
  const OrderedMerges *const merges = vocabulary_.merge_table();
  for (std::size_t j = 0; j < misses.count; ++j) {
    CacheMiss &miss = misses.distinct[j];
    if (miss.count() == 0 && !miss.is_long())
      vocabulary_.whole_tokens().prefetch_slot(probe.keys[miss.index]);
  }
  std::array<std::uint8_t, PreTokenBatch::MAX_COUNT> to_merge;
  std::size_t count = 0;
  for (std::size_t j = 0; j < misses.count; ++j) {
    CacheMiss &miss = misses.distinct[j];
    if (miss.count() != 0)
      continue;
    if (miss.is_long()) {
      const std::size_t known = cache.long_pre_tokens.copy(miss.bytes, miss.size, miss.hash,
                                                           miss.ids(), CacheMiss::MAX_IDS);
      if (known != 0) {
        miss.set_long_count(known);
        continue;
      }
    }
    if (unit == Unit::PRE_TOKEN && !segment_encoder_.is_one_segment(miss.bytes, miss.size)) {
      // No whole token has these bytes: no merge crosses the barrier within them, and they are
      // not an unreachable token.
      if (miss.is_long())
        miss.source = CacheMiss::Source::SEGMENTS;
      else
        miss.set_count(segment_encoder_.encode_segments(miss.bytes, miss.size, batch.limit,
                                                        cache, miss.ids()));
      continue;
    }
    if (!miss.is_long()) {
      // A segment never becomes an unreachable token, even if their bytes are equal.
      const ShortKey &key = probe.keys[miss.index];
      if (unit == Unit::PRE_TOKEN || vocabulary_.unreachable_tokens().find_short(key) == NO_ID)
        miss.set_id(vocabulary_.whole_tokens().find_short(key));
      if (miss.count() == 0 && merges == nullptr)
        miss.set_count(vocabulary_.merge(miss.bytes, miss.size, miss.ids()));
    }
    if (miss.count() == 0 && merges != nullptr && miss.size <= ShortMerge::MAX_BYTES)
      to_merge[count++] = static_cast<std::uint8_t>(j);
  }
  if (count == 0)
    return;
  std::size_t started = 0;
  const auto next = [&](const std::uint8_t *&bytes, std::size_t &size) {
    if (started == count)
      return false;
    const CacheMiss &miss = misses.distinct[to_merge[started++]];
    bytes = miss.bytes;
    size = miss.size;
    return true;
  };
  const auto done = [&](std::size_t which, const ShortMerge &merge) {
    CacheMiss &miss = misses.distinct[to_merge[which]];
    if (!miss.is_long()) {
      miss.set_count(merge.symbols(*merges, miss.ids()));
      return;
    }
    std::array<std::uint32_t, ShortMerge::MAX_BYTES> ids;
    const std::size_t id_count =
        vocabulary_.finish(ids.data(), merge.symbols(*merges, ids.data()));
    cache.long_pre_tokens.insert(miss.bytes, miss.size, miss.hash, ids.data(), id_count);
    std::copy_n(ids.data(), std::min(id_count, CacheMiss::MAX_IDS), miss.ids());
    miss.set_long_count(id_count);
  };
  merge_interleaved(*merges, *vocabulary_.barriers(), next, done);
  // The ids of the symbols are prefetched by now.
  for (std::size_t j = 0; j < count; ++j) {
    CacheMiss &miss = misses.distinct[to_merge[j]];
    if (!miss.is_long())
      miss.set_count(vocabulary_.finish(miss.ids(), miss.count()));
  }
}

} // namespace pretok
