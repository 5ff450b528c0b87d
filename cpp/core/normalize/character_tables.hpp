// The effects of the normalizers of Hugging Face's library tokenizers on single characters. The
// tables are generated from bpe/normalizers, which has the same results.
#pragma once

#include "core/normalize/precompiled.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// A set of characters, as the bounds of its ranges: [bounds[0], bounds[1]), and so on.
struct CharacterRanges {
  const std::uint32_t *bounds;
  std::size_t size;

  bool has(std::uint32_t code_point) const;
};

extern const CharacterRanges WHITE_SPACE_CHARACTERS;
extern const CharacterRanges COMBINING_MARK_CHARACTERS;  // of StripAccents
extern const CharacterRanges NONSPACING_MARK_CHARACTERS; // of BertNormalizer
extern const CharacterRanges CONTROL_CHARACTERS;         // of BertNormalizer
extern const CharacterRanges CHINESE_CHARACTERS;         // of BertNormalizer
extern const CharacterRanges NMT_DROPPED_CHARACTERS;     // of Nmt
extern const CharacterRanges NMT_SPACE_CHARACTERS;       // of Nmt

// Appends the UTF-8 of a code point. U+DC00 + byte stands for a byte that is not UTF-8, as with
// decode_utf8.
void append_character(std::uint32_t code_point, std::vector<std::uint8_t> &to);

// Appends the lower case of a character.
void append_lower(std::uint32_t code_point, std::vector<std::uint8_t> &to);

// Appends the compatibility decomposition of a character, if it is not its canonical
// decomposition; else appends the character. The canonical decomposition of the result is the
// NFKD of the character.
void append_compatible(std::uint32_t code_point, std::vector<std::uint8_t> &to);
// The maximum number of bytes that append_compatible makes of a byte.
inline constexpr std::size_t COMPATIBLE_GROWTH = 11;

GraphemeKind grapheme_kind(std::uint32_t code_point);

} // namespace pretok
