#include "core/encode/batch_encoder.hpp"

#include "core/base/ids.hpp"
#include "core/base/short_key.hpp"
#include "core/bpe/short_merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pretok {

// A pre-token of a batch that the cache does not have, or a long one to be merged.
struct BatchEncoder::Missing {
  const std::uint8_t *bytes;
  std::size_t size;
  std::uint64_t hash; // if it is long
  std::size_t count;  // of ids; if it is long, 0: it falls into units
  std::array<std::uint32_t, ShortKey::MAX_BYTES + ShortCache::PADDING> ids; // if it is short
  std::uint8_t place;                                                       // in the batch
  bool is_cut; // if it is short: whether it is more than one unit

  bool is_long() const { return size > ShortKey::MAX_BYTES; }
};

void BatchEncoder::encode(InstructionSet instructions, const PreTokens &given,
                          PreTokenCache &cache, IdBuffer &ids) const {
  LookUp found;
  look_up(instructions, given, cache.whole, found);
  std::array<Missing, PreTokens::MAX_COUNT> missing;
  std::size_t missing_count = 0;
  for (std::size_t j = 0; j < found.other_count; ++j) {
    const std::size_t i = found.others[j];
    const std::uint8_t *const bytes = given.text + given.start_of(i);
    if (given.falls_apart(*bytes))
      continue;
    Missing &one = missing[missing_count++];
    one.bytes = bytes;
    one.size = given.ends[i] - given.start_of(i);
    one.place = found.others[j];
    if (one.is_long()) {
      one.hash = hash_long(one.bytes, one.size, cache.longs.key());
      cache.longs.prefetch(one.hash);
      continue;
    }
    const ShortCache::Entry *displaced =
        cache.whole.find_displaced(found.keys[i], found.hashes[i]);
    one.count = displaced != nullptr ? ShortCache::copy(*displaced, one.ids.data()) : 0;
    if (displaced != nullptr)
      continue;
    // What merging makes, no merge of which can reach across, is no token.
    one.is_cut = !units_.is_one_unit(one.bytes, one.size);
    if (!one.is_cut || !vocabulary_.merging_makes_all())
      vocabulary_.whole().prefetch(found.keys[i]);
  }
  if (missing_count != 0)
    encode_missing(missing.data(), missing_count, found.keys.data(), given.limit, cache);
  // One id a byte at most, and room for what is copied in vain.
  std::uint32_t *const first =
      ids.room(given.ends[given.count - 1] - given.start + ShortCache::PADDING);
  std::uint32_t *to = first;
  std::size_t done = 0;
  const Missing *next_missing = missing.data();
  for (std::size_t j = 0; j <= found.other_count; ++j) {
    const std::size_t next = j < found.other_count ? found.others[j] : given.count;
    for (; done < next; ++done)
      to += ShortCache::copy(*found.kept[done], to);
    if (j == found.other_count)
      break;
    const std::uint8_t *const bytes = given.text + given.start_of(done);
    const std::size_t size = given.ends[done] - given.start_of(done);
    ++done;
    if (given.falls_apart(*bytes)) {
      to += units_.encode_units(bytes, size, given.limit, cache, to);
      continue;
    }
    const Missing &one = *next_missing++;
    if (one.is_long()) {
      if (one.count == 0) {
        const std::size_t n = units_.encode_units(one.bytes, one.size, given.limit, cache, to);
        if (one.size <= LongCache::MAX_BYTES)
          cache.longs.insert(one.bytes, one.size, one.hash, to, n);
        to += n;
      } else {
        to += units_.encode_long(one.bytes, one.size, one.hash, given.limit, cache, to);
      }
    } else {
      std::memcpy(to, one.ids.data(), ShortCache::PADDING * sizeof *to);
      if (one.count > ShortCache::PADDING)
        std::copy_n(one.ids.data(), one.count, to);
      to += one.count;
    }
  }
  ids.add(static_cast<std::size_t>(to - first));
  // Only now, for what is kept may move.
  for (std::size_t j = 0; j < missing_count; ++j) {
    const Missing &one = missing[j];
    if (!one.is_long())
      cache.whole.insert(found.keys[one.place], found.hashes[one.place], one.ids.data(),
                         one.count);
  }
}

void BatchEncoder::encode_missing(Missing *missing, std::size_t missing_count,
                                  const ShortKey *keys, const std::uint8_t *limit,
                                  PreTokenCache &cache) const {
  const OrderedMerges *const merges = vocabulary_.ordered();
  std::array<std::uint8_t, PreTokens::MAX_COUNT> to_merge;
  std::size_t count = 0;
  for (std::size_t j = 0; j < missing_count; ++j) {
    Missing &one = missing[j];
    std::uint32_t *const ids = one.ids.data();
    if (one.is_long()) {
      one.count = 1;
      if (merges == nullptr || cache.longs.has(one.bytes, one.size, one.hash))
        continue;
      if (!units_.is_one_unit(one.bytes, one.size))
        one.count = vocabulary_.merging_makes_all() ? 0 : 1;
      else if (one.size <= ShortMerge::MAX_BYTES)
        to_merge[count++] = static_cast<std::uint8_t>(j);
      continue;
    }
    if (one.count != 0)
      continue;
    ids[0] = one.is_cut && vocabulary_.merging_makes_all()
                 ? NO_ID
                 : vocabulary_.whole().find_short(keys[one.place]);
    if (ids[0] != NO_ID)
      one.count = 1;
    else if (one.is_cut)
      one.count = units_.encode_units(one.bytes, one.size, limit, cache, ids);
    else if (merges == nullptr)
      one.count = vocabulary_.merge(one.bytes, one.size, ids);
    else
      to_merge[count++] = static_cast<std::uint8_t>(j);
  }
  if (count == 0)
    return;
  std::size_t given = 0;
  const auto next = [&](const std::uint8_t *&bytes, std::size_t &size) {
    if (given == count)
      return false;
    const Missing &one = missing[to_merge[given++]];
    bytes = one.bytes;
    size = one.size;
    return true;
  };
  const auto done = [&](std::size_t which, const ShortMerge &merge) {
    Missing &one = missing[to_merge[which]];
    if (!one.is_long()) {
      one.count = merge.finish(*merges, one.ids.data());
      return;
    }
    // Where encode_long will find it.
    std::array<std::uint32_t, ShortMerge::MAX_BYTES> ids;
    cache.longs.insert(one.bytes, one.size, one.hash, ids.data(),
                       merge.finish(*merges, ids.data()));
  };
  merge_in_turn(*merges, *vocabulary_.joints(), next, done);
}

} // namespace pretok
