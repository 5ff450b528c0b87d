// The windows of texts in a PromptCache: where they end, and their hashes.
#pragma once

#include "core/base/hash.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Hashes a window of any size. Four independent lanes are faster than hash_long.
inline std::uint64_t hash_window(const std::uint8_t *window, std::size_t size,
                                 const HashKey &key) {
  constexpr std::size_t LANE = 16;
  constexpr std::size_t LANES = 4;
  if (size < LANE) {
    std::array<std::uint8_t, LANE> padded{};
    if (size != 0)
      std::memcpy(padded.data(), window, size);
    return hash_words(load_word(padded.data()) ^ size, load_word(padded.data() + 8), key);
  }
  if (size < LANE * LANES)
    return hash_long(window, size, key);
  std::array<std::uint64_t, LANES> states{};
  for (std::size_t lane = 0; lane < LANES; ++lane)
    states[lane] = hash_words(size, lane + 1, key);
  const auto add_block = [&](std::size_t at) {
    for (std::size_t lane = 0; lane < LANES; ++lane)
      states[lane] = hash_words(load_word(window + at + lane * LANE) ^ states[lane],
                                load_word(window + at + lane * LANE + 8), key);
  };
  for (std::size_t at = 0; at < size - LANE * LANES; at += LANE * LANES)
    add_block(at);
  add_block(size - LANE * LANES); // may overlap the block before it
  return hash_words(hash_words(states[0], states[1], key),
                    hash_words(states[2], states[3], key), key);
}

// Returns the size of the first window of `text`, or 0 if the text ends before it.
// prompt_cache.hpp says where windows end.
inline std::size_t first_window(const std::uint8_t *text, std::size_t size,
                                std::size_t min_window, std::size_t max_window) {
  constexpr std::size_t NEAR = 8;
  constexpr int ANCHOR_SHIFT = 60; // 1 of 16 line breaks ends a window
  const auto hash_around = [&](std::size_t at) {
    const std::uint64_t before = at < NEAR ? 0 : hash_without_key(load_word(text + at - NEAR));
    return hash_without_key((before >> 32) ^ before ^ load_word(text + at));
  };
  const std::size_t end = std::min(size, max_window);
  for (std::size_t at = min_window; at + NEAR <= end; ++at) {
    const void *const found = std::memchr(text + at - 1, '\n', end - NEAR - at + 1);
    if (found == nullptr)
      break;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t *>(found) - text) + 1;
    if (hash_around(at) >> ANCHOR_SHIFT == 0)
      return at + NEAR;
  }
  if (size < max_window)
    return 0;
  std::size_t best = max_window;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t at = std::max(min_window, max_window / 2); at + NEAR <= max_window; ++at) {
    const std::uint64_t hash = hash_without_key(load_word(text + at));
    if (hash < least) {
      least = hash;
      best = at + NEAR;
    }
  }
  return best;
}

} // namespace pretok
