// Looking up the pre-tokens of a batch in a ShortCache, so that memory is asked for before it
// is needed.
#pragma once

#include "core/base/instruction_set.hpp"
#include "core/cache/short_cache.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Some pre-tokens of a text, one behind the other.
struct PreTokens {
  static constexpr std::size_t MAX_COUNT = 256;

  const std::uint8_t *text;
  const std::uint8_t *limit; // memory up to here may be read
  std::size_t start;         // of the first, in bytes of `text`, as all offsets
  const std::size_t *ends;   // of each
  std::size_t count;         // at most MAX_COUNT
  unsigned lowest_apart;     // see falls_apart

  std::size_t start_of(std::size_t i) const { return i == 0 ? start : ends[i - 1]; }

  // Whether a pre-token with this first byte is cut into units at once, without a look whether
  // it is known: most in Chinese and Japanese are not, and fall into single characters.
  bool falls_apart(std::uint8_t byte) const {
    return unsigned{byte} - lowest_apart < APART_COUNT;
  }
  static constexpr unsigned APART_COUNT = 7;
};

// What became of them.
struct LookUp {
  static constexpr std::size_t MISS_PADDING = 64;

  alignas(64) std::array<ShortKey, PreTokens::MAX_COUNT> keys; // none: not for the cache
  std::array<std::uint64_t, PreTokens::MAX_COUNT> hashes;
  std::array<const ShortCache::Entry *, PreTokens::MAX_COUNT> kept;
  std::array<std::uint8_t, PreTokens::MAX_COUNT + MISS_PADDING>
      others; // places of those not kept
  std::size_t other_count;

  // The steps of looking up, one by one, from the `from`th pre-token on.
  void make_keys(const PreTokens &given, std::size_t from, const ShortCache &cache) {
    const HashKey key = cache.key(); // in registers: what is stored below could change another
    for (std::size_t i = from; i < given.count; ++i) {
      const std::uint8_t *const bytes = given.text + given.start_of(i);
      const std::size_t size = given.ends[i] - given.start_of(i);
      keys[i] = size > ShortKey::MAX_BYTES || given.falls_apart(*bytes)
                    ? ShortKey::none()
                    : ShortKey(bytes, size, given.limit);
      hashes[i] = keys[i].hash(key);
      cache.prefetch(hashes[i]);
    }
  }
  void look(const PreTokens &given, std::size_t from, const ShortCache &cache) {
    for (std::size_t i = from; i < given.count; ++i) {
      kept[i] = cache.look(hashes[i]);
      prefetch(kept[i]);
    }
  }
  void list_others(const PreTokens &given, std::size_t from) {
    for (std::size_t i = from; i < given.count; ++i) {
      others[other_count] = static_cast<std::uint8_t>(i);
      other_count += kept[i]->key == keys[i] ? keys[i].is_none() : 1U;
    }
  }
};

// Looks all of them up. Every set of instructions gives the same results.
void look_up(InstructionSet instructions, const PreTokens &given, const ShortCache &cache,
             LookUp &found);

#if PRETOK_X86_KERNELS
void look_up_avx512(const PreTokens &given, const ShortCache &cache, LookUp &found);
#endif

} // namespace pretok
