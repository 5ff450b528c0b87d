// look_up with NEON: four pre-tokens at a time.
#include "core/cache/look_up.hpp"

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>

#include <cstring>

namespace pretok {
namespace neon {
namespace {

constexpr std::size_t LANES = 4;

// The bucket of each pre-token.
using Buckets = std::array<const std::uint32_t *, PreTokenBatch::MAX_COUNT>;

__extension__ using Bytes = unsigned __int128;

// Element i has i bytes of 0xFF, and then zeros. The last element is for pre-tokens that are
// too long for a key.
constexpr std::array<Bytes, ShortKey::MAX_BYTES + 2> make_masks() {
  std::array<Bytes, ShortKey::MAX_BYTES + 2> masks{};
  for (unsigned size = 1; size <= ShortKey::MAX_BYTES; ++size)
    masks[size] = ~Bytes{0} >> (128 - 8 * size);
  return masks;
}
constexpr auto MASKS = make_masks();

// Like CacheProbe::make_keys, but handles only full pairs of the count_of_loadable() first
// pre-tokens. Returns the number of pre-tokens handled, and fills the first elements of
// `bucket_of`.
//
// Keys stay in general registers, which hash them: one instruction loads two words, and a word
// takes two to five cycles from a vector register to a general register.
std::size_t make_keys(const PreTokenBatch &batch, const ShortCache &cache, CacheProbe &probe,
                      Buckets &bucket_of) {
  // Local copies: the compiler would load a field again after each store.
  const HashKey key = cache.key();
  const ShortCache::Buckets buckets = cache.buckets();
  const std::uint8_t *const text = batch.text;
  const std::size_t *const ends = batch.ends;
  const std::size_t count = batch.count_of_loadable();
  const std::uint8_t *start = text + batch.start;
  const auto make_key = [&](std::size_t i) {
    const std::uint8_t *const end = text + ends[i];
    const std::size_t size =
        std::min<std::size_t>(static_cast<std::size_t>(end - start), ShortKey::MAX_BYTES + 1);
    Bytes bytes;
    std::memcpy(&bytes, start, sizeof bytes);
    bytes &= MASKS[size];
    const auto low = static_cast<std::uint64_t>(bytes);
    const auto high = static_cast<std::uint64_t>(bytes >> 64) |
                      (size & ShortKey::MAX_BYTES) << ShortKey::SIZE_SHIFT; // 0: none()
    start = end;
    probe.keys[i].low = low;
    probe.keys[i].high = high;
    return hash_words(low, high, key);
  };
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const std::uint64_t one = make_key(i);
    const std::uint64_t two = make_key(i + 1);
    probe.hashes[i] = one;
    probe.hashes[i + 1] = two;
    bucket_of[i] = buckets.of(one);
    bucket_of[i + 1] = buckets.of(two);
    prefetch(bucket_of[i]);
    prefetch(bucket_of[i + 1]);
  }
  return i;
}

// Like CacheProbe::look, but handles only full groups of LANES of the first `count` pre-tokens.
// Returns the number of pre-tokens handled.
std::size_t look(std::size_t count, const ShortCache &cache, const Buckets &bucket_of,
                 CacheProbe &probe) {
  static_assert(sizeof(ShortCache::Entry) == 1 << 5, "the shifts below multiply by this");
  const uint64x2_t entries = vdupq_n_u64(reinterpret_cast<std::uintptr_t>(cache.entries()));
  const uint32x4_t max_entries = vdupq_n_u32(ShortCache::MAX_ENTRIES);
  const uint32x4_t tag_bits = vdupq_n_u32(~(ShortCache::MAX_ENTRIES - 1));
  count = count / LANES * LANES;
  for (std::size_t i = 0; i < count; i += LANES) {
    const std::uint64_t *const hashes = probe.hashes.data() + i;
    const uint32x4_t low_halves = vuzp1q_u32(vreinterpretq_u32_u64(vld1q_u64(hashes)),
                                             vreinterpretq_u32_u64(vld1q_u64(hashes + 2)));
    const uint32x4_t tags = vandq_u32(low_halves, tag_bits);
    // Only a slot with this tag leaves a value below MAX_ENTRIES. If two slots match, the lower
    // index wins. Minima of pairs leave one value for each pre-token.
    const uint32x4_t one = veorq_u32(vld1q_u32(bucket_of[i]), vdupq_laneq_u32(tags, 0));
    const uint32x4_t two = veorq_u32(vld1q_u32(bucket_of[i + 1]), vdupq_laneq_u32(tags, 1));
    const uint32x4_t three = veorq_u32(vld1q_u32(bucket_of[i + 2]), vdupq_laneq_u32(tags, 2));
    const uint32x4_t four = veorq_u32(vld1q_u32(bucket_of[i + 3]), vdupq_laneq_u32(tags, 3));
    const uint32x4_t least = vpminq_u32(vpminq_u32(one, two), vpminq_u32(three, four));
    const uint32x4_t index = vandq_u32(least, vcltq_u32(least, max_entries));
    const uint64x2_t first = vaddq_u64(entries, vshll_n_u32(vget_low_u32(index), 5));
    const uint64x2_t last = vaddq_u64(entries, vshll_high_n_u32(index, 5));
    std::memcpy(&probe.hits[i], &first, sizeof first);
    std::memcpy(&probe.hits[i + 2], &last, sizeof last);
    const auto prefetch_at = [](std::uint64_t address) {
      prefetch(reinterpret_cast<const void *>(address));
    };
    prefetch_at(vgetq_lane_u64(first, 0));
    prefetch_at(vgetq_lane_u64(first, 1));
    prefetch_at(vgetq_lane_u64(last, 0));
    prefetch_at(vgetq_lane_u64(last, 1));
  }
  return count;
}

// Like CacheProbe::list_misses, but handles only full groups of LANES pre-tokens. Returns the
// number of pre-tokens handled.
std::size_t list_misses(const PreTokenBatch &batch, CacheProbe &probe) {
  const std::size_t count = batch.count / LANES * LANES;
  // The last word of a key has its size, so it is 0 only in none(), which is a miss.
  const uint32x4_t other_words = {~0U, ~0U, ~0U, 0};
  std::size_t listed = probe.miss_count;
  for (std::size_t i = 0; i < count; i += LANES) {
    uint32x4_t keys[LANES];
    uint32x4_t equal[LANES];
    for (std::size_t lane = 0; lane < LANES; ++lane) {
      const uint64x2_t key = vld1q_u64(&probe.keys[i + lane].low);
      equal[lane] =
          vreinterpretq_u32_u64(vceqq_u64(key, vld1q_u64(&probe.hits[i + lane]->key.low)));
      keys[lane] = vreinterpretq_u32_u64(key);
    }
    const uint32x4_t all_equal =
        vandq_u32(vandq_u32(equal[0], equal[1]), vandq_u32(equal[2], equal[3]));
    const uint32x4_t least =
        vminq_u32(vminq_u32(keys[0], keys[1]), vminq_u32(keys[2], keys[3]));
    if (vminvq_u32(vandq_u32(all_equal, vorrq_u32(least, other_words))) != 0)
      continue;
    for (std::size_t lane = 0; lane < LANES; ++lane) {
      const ShortKey &key = probe.keys[i + lane];
      probe.misses[listed] = static_cast<std::uint8_t>(i + lane);
      listed += probe.hits[i + lane]->key == key ? key.is_none() : 1U;
    }
  }
  probe.miss_count = listed;
  return count;
}

} // namespace
} // namespace neon

void look_up_neon(const PreTokenBatch &batch, const ShortCache &cache, CacheProbe &probe) {
  using namespace neon;
  probe.miss_count = 0;
  Buckets bucket_of; // not initialized
  const std::size_t made = make_keys(batch, cache, probe, bucket_of);
  probe.make_keys(batch, made, cache);
  probe.look(batch, look(made, cache, bucket_of, probe), cache);
  probe.list_misses(batch, list_misses(batch, probe));
}

} // namespace pretok
#endif
