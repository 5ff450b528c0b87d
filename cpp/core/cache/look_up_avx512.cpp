// Looking up pre-tokens with AVX-512, four at a time: a lane of 16 bytes for each.
#include "core/cache/look_up.hpp"

#include "core/base/avx512.hpp"

#if PRETOK_X86_KERNELS
namespace pretok {
namespace avx512 {
namespace {

constexpr std::size_t LANES = 4;

// What four addresses have there, 16 bytes each.
template <typename Address> PRETOK_AVX512 inline __m512i load_lanes(Address address) {
  const auto load = [&](std::size_t lane) PRETOK_AVX512 {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(address(lane)));
  };
  const __m512i one = _mm512_castsi128_si512(load(0));
  const __m512i two = _mm512_inserti32x4(one, load(1), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(two, load(2), 2), load(3), 3);
}

// Makes keys as far as 16 bytes of each may be read; returns of how many.
PRETOK_AVX512 std::size_t make_keys(const PreTokens &given, const ShortCache &cache,
                                    LookUp &found) {
  std::array<std::size_t, PreTokens::MAX_COUNT + 1> bounds;
  bounds[0] = given.start;
  std::copy_n(given.ends, given.count, bounds.data() + 1);
  const HashKey key = cache.key();
  const auto room = static_cast<std::size_t>(given.limit - given.text);
  const __m512i places = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const __m512i to_lanes = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
  const __m512i low_bytes = _mm512_set1_epi64(0);
  const __m512i lowest_apart = _mm512_set1_epi8(static_cast<char>(given.lowest_apart));
  const __mmask64 may_fall_apart = given.lowest_apart < 0x100 ? ~__mmask64{0} : 0;
  constexpr __mmask64 LAST_BYTES = 0x8000800080008000;
  std::size_t i = 0;
  for (; i + LANES <= given.count && bounds[i + LANES - 1] + ShortBytes::MAX_BYTES <= room;
       i += LANES) {
    const __m512i bytes =
        load_lanes([&](std::size_t lane) { return given.text + bounds[i + lane]; });
    const __m256i sizes = _mm256_min_epu64(
        _mm256_sub_epi64(
            _mm256_loadu_si256(reinterpret_cast<const __m256i *>(bounds.data() + i + 1)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i *>(bounds.data() + i))),
        _mm256_set1_epi64x(ShortBytes::MAX_BYTES));
    // In each byte of a lane.
    const __m512i size = _mm512_shuffle_epi8(
        _mm512_permutexvar_epi64(to_lanes, _mm512_castsi256_si512(sizes)), low_bytes);
    const __m512i first = _mm512_shuffle_epi8(bytes, low_bytes);
    const __mmask64 apart =
        _mm512_mask_cmplt_epu8_mask(may_fall_apart, _mm512_sub_epi8(first, lowest_apart),
                                    _mm512_set1_epi8(PreTokens::APART_COUNT));
    const __mmask64 is_key =
        _mm512_cmple_epu8_mask(size, _mm512_set1_epi8(ShortKey::MAX_BYTES)) & ~apart;
    const __m512i kept =
        _mm512_maskz_mov_epi8(_mm512_cmplt_epu8_mask(places, size) & is_key, bytes);
    const __m512i keys = _mm512_mask_mov_epi8(kept, is_key & LAST_BYTES, size);
    _mm512_storeu_si512(found.keys.data() + i, keys);
    for (std::size_t lane = 0; lane < LANES; ++lane) {
      const std::uint64_t hash = found.keys[i + lane].hash(key);
      found.hashes[i + lane] = hash;
      cache.prefetch(hash);
    }
  }
  return i;
}

// As ShortCache::look does; returns of how many.
PRETOK_AVX512 std::size_t look(const PreTokens &given, const ShortCache &cache, LookUp &found) {
  const __m512i to_lanes = _mm512_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6);
  const __m512i from_lanes = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
  const __m512i tag_bits = _mm512_set1_epi32(static_cast<int>(~(ShortCache::MAX_ENTRIES - 1)));
  const __m512i most = _mm512_set1_epi32(static_cast<int>(ShortCache::MAX_ENTRIES));
  const __m256i entries = _mm256_set1_epi64x(
      static_cast<long long>(reinterpret_cast<std::uintptr_t>(cache.entries())));
  std::size_t i = 0;
  for (; i + LANES <= given.count; i += LANES) {
    const __m512i slots =
        load_lanes([&](std::size_t lane) { return cache.bucket(found.hashes[i + lane]); });
    const __m256i hashes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(found.hashes.data() + i));
    const __m512i tags = _mm512_and_si512(
        _mm512_permutexvar_epi32(to_lanes, _mm512_castsi256_si512(hashes)), tag_bits);
    // Only a slot with this tag leaves no more than a place. Of two such slots one counts.
    __m512i place = _mm512_xor_si512(slots, tags);
    place = _mm512_min_epu32(place, _mm512_shuffle_epi32(place, _MM_PERM_BADC));
    place = _mm512_min_epu32(place, _mm512_shuffle_epi32(place, _MM_PERM_CDAB));
    place = _mm512_maskz_mov_epi32(_mm512_cmplt_epu32_mask(place, most), place);
    const __m256i four =
        _mm256_and_si256(_mm512_castsi512_si256(_mm512_permutexvar_epi64(from_lanes, place)),
                         _mm256_set1_epi64x(0xFFFFFFFF));
    static_assert(sizeof(ShortCache::Entry) == 1 << 5, "places are of so many bytes");
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(found.kept.data() + i),
                        _mm256_add_epi64(entries, _mm256_slli_epi64(four, 5)));
    for (std::size_t lane = 0; lane < LANES; ++lane)
      prefetch(found.kept[i + lane]);
  }
  return i;
}

// Lists those that are not kept, of as many as are looked at; returns of how many.
PRETOK_AVX512 std::size_t list_others(const PreTokens &given, LookUp &found) {
  constexpr std::size_t AT_ONCE = 64;
  std::size_t i = 0;
  while (i + LANES <= given.count) {
    const std::size_t begin = i;
    const std::size_t end = std::min(begin + AT_ONCE, given.count / LANES * LANES);
    std::uint64_t others = 0;
    for (; i < end; i += LANES) {
      const __m512i keys = _mm512_loadu_si512(found.keys.data() + i);
      const __m512i theirs =
          load_lanes([&](std::size_t lane) { return &found.kept[i + lane]->key; });
      // A pair of bits each: that a half differs; the high half of what is no key is 0.
      const unsigned differ = _mm512_cmpneq_epi64_mask(keys, theirs);
      const unsigned is_none = _mm512_testn_epi64_mask(keys, keys) & 0xAA;
      const unsigned other = differ | differ >> 1 | is_none >> 1;
      others |= std::uint64_t{_pext_u32(other, 0x55)} << (i - begin);
    }
    const __m512i places = _mm512_add_epi8(
        counting(), _mm512_set1_epi8(static_cast<char>(static_cast<unsigned char>(begin))));
    _mm512_storeu_si512(found.others.data() + found.other_count,
                        _mm512_maskz_compress_epi8(others, places));
    found.other_count += static_cast<std::size_t>(_mm_popcnt_u64(others));
  }
  return i;
}

} // namespace
} // namespace avx512

PRETOK_AVX512 void look_up_avx512(const PreTokens &given, const ShortCache &cache,
                                  LookUp &found) {
  using namespace avx512;
  found.other_count = 0;
  found.make_keys(given, make_keys(given, cache, found), cache);
  found.look(given, look(given, cache, found), cache);
  found.list_others(given, list_others(given, found));
}

} // namespace pretok
#endif
