// Replaces each character of a text by another text, whatever its neighbors are.
#pragma once

#include "core/normalize/lazy_pages.hpp"
#include "core/normalize/normalizer_pass.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Appends the replacement of a character in UTF-8.
using Spelling = void (*)(std::uint32_t code_point, std::vector<std::uint8_t> &to);

// The replacements of 256 code points.
struct CharacterPage {
  // The replacement of code point i of the page is text[starts[i]..starts[i + 1]).
  std::array<std::uint32_t, CHARACTERS_PER_PAGE + 1> starts;
  std::vector<std::uint8_t> text;
};

// Threads may share a CharacterMap.
class CharacterMap final : public NormalizerPass {
public:
  // The spellings are applied in order, each to the result of the one before.
  explicit CharacterMap(std::vector<Spelling> spellings);

  // From now on, spells all characters of a page when a text first has one of them. Call it
  // before threads share this object.
  void keep_pages();

  // Sets the result to the replacements of all characters. A byte that is not UTF-8 is kept.
  // Takes linear time.
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override;

private:
  static constexpr std::uint8_t NO_BYTE = 0xFF;

  void spell(std::uint32_t code_point, std::vector<std::uint8_t> &to) const;
  const CharacterPage &page(std::uint32_t code_point) const;

  std::vector<Spelling> spellings_;
  bool keeps_pages_ = false;
  mutable LazyPages<CharacterPage> pages_;
  // By byte: the replacement of an ASCII character, if it is an ASCII character; else NO_BYTE.
  std::array<std::uint8_t, 256> ascii_;
};

} // namespace pretok
