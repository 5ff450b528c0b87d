// Replaces each character of a text by another text, whatever its neighbors are.
#pragma once

#include "core/normalize/lazy_pages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// The replacements of 256 code points.
struct CharacterPage {
  // The replacement of code point i of the page is text[starts[i]..starts[i + 1]).
  std::array<std::uint32_t, CHARACTERS_PER_PAGE + 1> starts;
  std::vector<std::uint8_t> text;
};

class CharacterMap {
public:
  CharacterMap() { ascii_.fill(NO_BYTE); }

  // Appends the replacements of the characters from data[at] on to `to`. Returns the position
  // of the first byte that is not UTF-8, or of the first character whose page has not been
  // stored, or `size`. Takes linear time.
  std::size_t map(const std::uint8_t *data, std::size_t size, std::size_t at,
                  std::vector<std::uint8_t> &to) const;

  // The origins of the characters of a result: the index in the text of the character that each
  // of them replaces, in code points.
  struct Origins {
    std::vector<std::int64_t> indices;
    std::int64_t next = 0; // the index of the next character of the text
  };
  // Does the same, and appends the origins.
  std::size_t map(const std::uint8_t *data, std::size_t size, std::size_t at,
                  std::vector<std::uint8_t> &to, Origins &origins) const;

  // Stores the page of a code point. The page of the ASCII characters must be stored before
  // threads share this object.
  void store(std::uint32_t code_point, CharacterPage page);

private:
  static constexpr std::uint8_t NO_BYTE = 0xFF;

  template <bool ALIGNS>
  std::size_t run(const std::uint8_t *data, std::size_t size, std::size_t at,
                  std::vector<std::uint8_t> &to, Origins *origins) const;

  LazyPages<CharacterPage> pages_;
  // By byte: the replacement of an ASCII character, if it is an ASCII character; else NO_BYTE.
  std::array<std::uint8_t, 256> ascii_;
};

} // namespace pretok
