// look_up with AVX2: two pre-tokens at a time, each in a lane of 16 bytes.
#include "core/cache/look_up.hpp"

#include "core/base/noinline.hpp"

#if PRETOK_X86_KERNELS
#include <immintrin.h>

#define PRETOK_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace pretok {
namespace avx2 {
namespace {

constexpr std::size_t LANES = 2;

// Loads 16 bytes from each of two addresses.
PRETOK_TARGET inline __m256i load_lanes(const void *one, const void *two) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128(static_cast<const __m128i *>(one))),
      _mm_loadu_si128(static_cast<const __m128i *>(two)), 1);
}

// The mask of the bytes of a key of each size, and its last byte. The last row is for
// pre-tokens that are too long for a key: it makes none().
struct KeyRow {
  alignas(32) std::uint8_t mask[ShortBytes::MAX_BYTES];
  std::uint8_t last[ShortBytes::MAX_BYTES];
};
using KeyRows = std::array<KeyRow, ShortKey::MAX_BYTES + 2>;
constexpr KeyRows make_key_rows() {
  KeyRows rows{};
  for (std::size_t size = 1; size <= ShortKey::MAX_BYTES; ++size) {
    for (std::size_t i = 0; i < size; ++i)
      rows[size].mask[i] = 0xFF;
    rows[size].last[ShortKey::MAX_BYTES] = static_cast<std::uint8_t>(size);
  }
  return rows;
}
constexpr KeyRows KEY_ROWS = make_key_rows();

PRETOK_TARGET inline __m128i load_half(const std::uint8_t *from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
}

// Like CacheProbe::make_keys, but handles only the count_of_loadable() first pre-tokens.
// Returns their number. Not inlined: the loop needs almost all registers.
PRETOK_NOINLINE PRETOK_TARGET std::size_t
make_keys(const PreTokenBatch &batch, const ShortCache &cache, CacheProbe &probe) {
  // Local copies: the compiler would load a field again after each store.
  const HashKey key = cache.key();
  const ShortCache::Buckets buckets = cache.buckets();
  const std::uint8_t *const text = batch.text;
  const std::size_t *const ends = batch.ends;
  const std::size_t count = batch.count_of_loadable();
  std::size_t start = batch.start;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = ends[i];
    const KeyRow &row = KEY_ROWS[std::min(end - start, ShortBytes::MAX_BYTES)];
    const __m128i words = _mm_or_si128(
        _mm_and_si128(load_half(text + start), load_half(row.mask)), load_half(row.last));
    _mm_store_si128(reinterpret_cast<__m128i *>(&probe.keys[i]), words);
    // hash_words, with the multiplication in assembly: GCC 12 would store the product and load
    // it again.
    std::uint64_t low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(words)) ^ key.one;
    std::uint64_t high = static_cast<std::uint64_t>(_mm_extract_epi64(words, 1)) ^ key.two;
    __asm__("mulx %1, %0, %1" : "=&r"(low), "+r"(high) : "d"(low));
    const std::uint64_t hash = low ^ high;
    probe.hashes[i] = hash;
    prefetch(buckets.of(hash));
    start = end;
  }
  return count;
}

// Like CacheProbe::look, but handles only full groups of LANES pre-tokens. Returns the number
// of pre-tokens handled.
PRETOK_TARGET std::size_t look(const PreTokenBatch &batch, const ShortCache &cache,
                               CacheProbe &probe) {
  const std::size_t count = batch.count;
  const ShortCache::Entry *const entries = cache.entries();
  const ShortCache::Buckets buckets = cache.buckets();
  const __m256i to_lanes = _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2);
  const __m256i tag_bits = _mm256_set1_epi32(static_cast<int>(~(ShortCache::MAX_ENTRIES - 1)));
  std::size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    const __m256i slots =
        load_lanes(buckets.of(probe.hashes[i]), buckets.of(probe.hashes[i + 1]));
    const __m256i hashes = _mm256_castsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(&probe.hashes[i])));
    const __m256i tags =
        _mm256_and_si256(_mm256_permutevar8x32_epi32(hashes, to_lanes), tag_bits);
    // Only a slot with this tag leaves a value below MAX_ENTRIES. If two slots match, the lower
    // index wins.
    __m256i index = _mm256_xor_si256(slots, tags);
    index = _mm256_min_epu32(index, _mm256_shuffle_epi32(index, _MM_SHUFFLE(1, 0, 3, 2)));
    index = _mm256_min_epu32(index, _mm256_shuffle_epi32(index, _MM_SHUFFLE(2, 3, 0, 1)));
    const __m256i is_index =
        _mm256_cmpeq_epi32(_mm256_and_si256(index, tag_bits), _mm256_setzero_si256());
    index = _mm256_and_si256(index, is_index);
    probe.hits[i] =
        entries + static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm256_castsi256_si128(index)));
    probe.hits[i + 1] = entries + static_cast<std::uint32_t>(
                                      _mm_cvtsi128_si32(_mm256_extracti128_si256(index, 1)));
    prefetch(probe.hits[i]);
    prefetch(probe.hits[i + 1]);
  }
  return i;
}

// Like CacheProbe::list_misses, but handles only full groups of LANES pre-tokens. Returns the
// number of pre-tokens handled.
PRETOK_TARGET std::size_t list_misses(const PreTokenBatch &batch, CacheProbe &probe) {
  const std::size_t count = batch.count;
  // The low half of a key may be 0, but only none() has the high half 0.
  const __m256i low_halves = _mm256_setr_epi64x(-1, 0, -1, 0);
  std::size_t listed = probe.miss_count;
  std::size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    const __m256i keys = _mm256_load_si256(reinterpret_cast<const __m256i *>(&probe.keys[i]));
    const __m256i equal =
        _mm256_cmpeq_epi64(keys, load_lanes(&probe.hits[i]->key, &probe.hits[i + 1]->key));
    const __m256i is_none =
        _mm256_cmpeq_epi64(_mm256_or_si256(keys, low_halves), _mm256_setzero_si256());
    // Two bits for each pre-token, one for each half of the key.
    const int found =
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_andnot_si256(is_none, equal)));
    if (found == 0xF)
      continue;
    probe.misses[listed] = static_cast<std::uint8_t>(i);
    listed += (found & 3) != 3;
    probe.misses[listed] = static_cast<std::uint8_t>(i + 1);
    listed += found >> 2 != 3;
  }
  probe.miss_count = listed;
  return i;
}

} // namespace
} // namespace avx2

PRETOK_TARGET void look_up_avx2(const PreTokenBatch &batch, const ShortCache &cache,
                                CacheProbe &probe) {
  using namespace avx2;
  probe.miss_count = 0;
  probe.make_keys(batch, make_keys(batch, cache, probe), cache);
  probe.look(batch, look(batch, cache, probe), cache);
  probe.list_misses(batch, list_misses(batch, probe));
}

} // namespace pretok
#undef PRETOK_TARGET
#endif
