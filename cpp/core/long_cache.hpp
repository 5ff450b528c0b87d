// What became of more than 15 bytes: two places for each hash, which begin few and grow, and
// the bytes and ids in a store that is begun anew when it is full.
#pragma once

#include "prefetch.hpp"
#include "token_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pretok {

class LongCache {
public:
  static constexpr std::size_t MOST = 512; // of more bytes, nothing is kept

  // The key of the hashes that all functions are given.
  const HashKey &key() const { return key_; }

  // Asks for the memory that is looked at first.
  void prefetch(std::uint64_t hash) const {
    if (!places_.empty())
      pretok::prefetch(places_.data() + first_of(hash));
  }

  // Whether something is kept.
  bool has(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const {
    return find(bytes, size, hash) != nullptr;
  }

  // Writes the ids that are kept of `bytes` to `to`; returns how many, or 0.
  std::size_t copy(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
                   std::uint32_t *to) const {
    const Place *place = find(bytes, size, hash);
    if (place == nullptr)
      return 0;
    std::memcpy(to, store_.data() + place->at, place->count * sizeof *to);
    return place->count;
  }

  // `count` is at most `size`. Of the two in its place the older one goes.
  void insert(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
              const std::uint32_t *ids, std::size_t count) {
    if (kept_ == places_.size() / 2 && kept_ < MOST_PLACES / 2)
      grow();
    const std::size_t words = count + (size + 3) / 4;
    store_.reserve(STORE); // what nothing was written to is only addresses
    if (STORE - store_.size() < words) {
      store_.clear();
      ++generation_;
    }
    const std::size_t at = store_.size();
    store_.resize(at + words);
    std::memcpy(store_.data() + at, ids, count * sizeof *ids);
    std::memcpy(store_.data() + at + count, bytes, size);
    ++kept_;
    put({hash, static_cast<std::uint32_t>(at), generation_, static_cast<std::uint16_t>(size),
         static_cast<std::uint16_t>(count)});
  }

private:
  static constexpr std::size_t FIRST_PLACES = 1 << 8;
  static constexpr std::size_t MOST_PLACES = 1 << 17;
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  static constexpr std::size_t STORE = 1 << 11;
#else
  static constexpr std::size_t STORE = 1 << 21; // 8 MB
#endif

  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t at = 0; // in the store: the ids, and behind them the bytes
    std::uint32_t generation = 0;
    std::uint16_t size = 0; // 0: free
    std::uint16_t count = 0;
  };

  std::size_t first_of(std::uint64_t hash) const { return hash % (places_.size() / 2) * 2; }

  void put(const Place &place) {
    Place *pair = places_.data() + first_of(place.hash);
    pair[1] = pair[0];
    pair[0] = place;
  }
  void grow() {
    std::vector<Place> before(std::clamp(places_.size() * 4, FIRST_PLACES, MOST_PLACES));
    before.swap(places_);
    for (std::size_t at = before.size(); at-- != 0;) // of two the older one first
      if (before[at].size != 0)
        put(before[at]);
  }

  const Place *find(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const {
    if (places_.empty())
      return nullptr;
    const Place *pair = places_.data() + first_of(hash);
    return holds(pair[0], bytes, size, hash)   ? pair
           : holds(pair[1], bytes, size, hash) ? pair + 1
                                               : nullptr;
  }
  bool holds(const Place &place, const std::uint8_t *bytes, std::size_t size,
             std::uint64_t hash) const {
    return place.hash == hash && place.size == size && place.generation == generation_ &&
           std::memcmp(store_.data() + place.at + place.count, bytes, size) == 0;
  }

  HashKey key_ = hash_key();
  std::vector<Place> places_;
  std::size_t kept_ = 0; // so far
  std::vector<std::uint32_t> store_;
  std::uint32_t generation_ = 1; // what the store held before it was full no longer counts
};

} // namespace pretok
