// look_up with AVX-512: four pre-tokens at a time, each in a lane of 16 bytes.
#include "core/cache/look_up.hpp"

#include "core/base/avx512.hpp"

#if PRETOK_X86_KERNELS
namespace pretok {
namespace avx512 {
namespace {

constexpr std::size_t LANES = 4;

// Loads 16 bytes from each of four addresses.
template <typename Address> PRETOK_AVX512 inline __m512i load_lanes(Address address) {
  const auto load = [&](std::size_t lane) PRETOK_AVX512 {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(address(lane)));
  };
  const __m512i one = _mm512_castsi128_si512(load(0));
  const __m512i two = _mm512_inserti32x4(one, load(1), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(two, load(2), 2), load(3), 3);
}

// Like CacheProbe::make_keys, but handles only full groups of LANES pre-tokens. Stops before
// the first group in which a pre-token has fewer than 16 readable bytes from its start on.
// Returns the number of pre-tokens handled.
PRETOK_AVX512 std::size_t make_keys(const PreTokenBatch &batch, const ShortCache &cache,
                                    CacheProbe &probe) {
  // Local copies: the compiler would load a field again after each store.
  const HashKey key = cache.key();
  const ShortCache::Buckets buckets = cache.buckets();
  const std::uint8_t *const text = batch.text;
  const std::size_t *const ends = batch.ends;
  const std::size_t count = batch.count;
  const auto room = static_cast<std::size_t>(batch.limit - text);
  const __m512i byte_indices = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const __m512i to_lanes = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
  const __m512i low_bytes = _mm512_set1_epi64(0);
  constexpr __mmask64 LAST_BYTES = 0x8000800080008000;
  std::size_t start = batch.start;
  __m256i ends_before = _mm256_set1_epi64x(static_cast<long long>(start));
  std::size_t i = 0;
  for (; i + LANES <= count && ends[i + LANES - 2] + ShortBytes::MAX_BYTES <= room;
       i += LANES) {
    const __m512i bytes = load_lanes(
        [&](std::size_t lane) { return text + (lane == 0 ? start : ends[i + lane - 1]); });
    const __m256i these = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(ends + i));
    const __m256i starts = _mm256_alignr_epi64(these, ends_before, 3);
    const __m256i sizes = _mm256_min_epu64(_mm256_sub_epi64(these, starts),
                                           _mm256_set1_epi64x(ShortBytes::MAX_BYTES));
    // The size, in each byte of its lane.
    const __m512i size = _mm512_shuffle_epi8(
        _mm512_permutexvar_epi64(to_lanes, _mm512_castsi256_si512(sizes)), low_bytes);
    const __mmask64 is_key =
        _mm512_cmple_epu8_mask(size, _mm512_set1_epi8(ShortKey::MAX_BYTES));
    const __m512i masked =
        _mm512_maskz_mov_epi8(_mm512_cmplt_epu8_mask(byte_indices, size) & is_key, bytes);
    const __m512i keys = _mm512_mask_mov_epi8(masked, is_key & LAST_BYTES, size);
    // Two stores: loads of the upper half would wait for one store of 64 bytes to complete.
    auto *const to = reinterpret_cast<__m256i *>(probe.keys.data() + i);
    _mm256_storeu_si256(to, _mm512_castsi512_si256(keys));
    _mm256_storeu_si256(to + 1, _mm512_extracti64x4_epi64(keys, 1));
    for (std::size_t lane = 0; lane < LANES; ++lane) {
      const std::uint64_t hash = probe.keys[i + lane].hash(key);
      probe.hashes[i + lane] = hash;
      prefetch(buckets.of(hash));
    }
    start = ends[i + LANES - 1];
    ends_before = these;
  }
  return i;
}

// Like CacheProbe::look, but handles only full groups of LANES pre-tokens. Returns the number
// of pre-tokens handled.
PRETOK_AVX512 std::size_t look(const PreTokenBatch &batch, const ShortCache &cache,
                               CacheProbe &probe) {
  const ShortCache::Buckets buckets = cache.buckets();
  const __m512i to_lanes = _mm512_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6);
  const __m512i from_lanes = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
  const __m512i tag_bits = _mm512_set1_epi32(static_cast<int>(~(ShortCache::MAX_ENTRIES - 1)));
  const __m512i max_entries = _mm512_set1_epi32(static_cast<int>(ShortCache::MAX_ENTRIES));
  const __m256i entries = _mm256_set1_epi64x(
      static_cast<long long>(reinterpret_cast<std::uintptr_t>(cache.entries())));
  const std::size_t count = batch.count;
  std::size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    const __m512i slots =
        load_lanes([&](std::size_t lane) { return buckets.of(probe.hashes[i + lane]); });
    const __m256i hashes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(probe.hashes.data() + i));
    const __m512i tags = _mm512_and_si512(
        _mm512_permutexvar_epi32(to_lanes, _mm512_castsi256_si512(hashes)), tag_bits);
    // Only a slot with this tag leaves a value below MAX_ENTRIES. If two slots match, the lower
    // index wins.
    __m512i index = _mm512_xor_si512(slots, tags);
    index = _mm512_min_epu32(index, _mm512_shuffle_epi32(index, _MM_PERM_BADC));
    index = _mm512_min_epu32(index, _mm512_shuffle_epi32(index, _MM_PERM_CDAB));
    index = _mm512_maskz_mov_epi32(_mm512_cmplt_epu32_mask(index, max_entries), index);
    const __m256i four =
        _mm256_and_si256(_mm512_castsi512_si256(_mm512_permutexvar_epi64(from_lanes, index)),
                         _mm256_set1_epi64x(0xFFFFFFFF));
    static_assert(sizeof(ShortCache::Entry) == 1 << 5, "the shift below multiplies by this");
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(probe.hits.data() + i),
                        _mm256_add_epi64(entries, _mm256_slli_epi64(four, 5)));
    for (std::size_t lane = 0; lane < LANES; ++lane)
      prefetch(probe.hits[i + lane]);
  }
  return i;
}

// Like CacheProbe::list_misses, but handles only full groups of LANES pre-tokens. Returns the
// number of pre-tokens handled.
PRETOK_AVX512 std::size_t list_misses(const PreTokenBatch &batch, CacheProbe &probe) {
  constexpr std::size_t AT_ONCE = 64;
  std::size_t i = 0;
  while (i + LANES <= batch.count) {
    const std::size_t begin = i;
    const std::size_t end = std::min(begin + AT_ONCE, batch.count / LANES * LANES);
    std::uint64_t miss_bits = 0;
    for (; i < end; i += LANES) {
      const __m512i keys = _mm512_loadu_si512(probe.keys.data() + i);
      const __m512i entry_keys =
          load_lanes([&](std::size_t lane) { return &probe.hits[i + lane]->key; });
      // Each mask has two bits per pre-token, one for each half of the key. A key whose high
      // half is 0 is none().
      const unsigned differ = _mm512_cmpneq_epi64_mask(keys, entry_keys);
      const unsigned is_none = _mm512_testn_epi64_mask(keys, keys) & 0xAA;
      const unsigned other = differ | differ >> 1 | is_none >> 1;
      miss_bits |= std::uint64_t{_pext_u32(other, 0x55)} << (i - begin);
    }
    const __m512i positions =
        _mm512_add_epi8(ascending_bytes(),
                        _mm512_set1_epi8(static_cast<char>(static_cast<unsigned char>(begin))));
    _mm512_storeu_si512(probe.misses.data() + probe.miss_count,
                        _mm512_maskz_compress_epi8(miss_bits, positions));
    probe.miss_count += static_cast<std::size_t>(_mm_popcnt_u64(miss_bits));
  }
  return i;
}

} // namespace
} // namespace avx512

PRETOK_AVX512 void look_up_avx512(const PreTokenBatch &batch, const ShortCache &cache,
                                  CacheProbe &probe) {
  using namespace avx512;
  probe.miss_count = 0;
  probe.make_keys(batch, make_keys(batch, cache, probe), cache);
  probe.look(batch, look(batch, cache, probe), cache);
  probe.list_misses(batch, list_misses(batch, probe));
}

} // namespace pretok
#endif
