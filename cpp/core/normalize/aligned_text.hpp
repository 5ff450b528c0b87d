// A text with the place of each character in the original text. AlignedText of
// bpe/normalizers/aligned_text.py has the same places, except that this one has only the start
// of each span.
#pragma once

#include "core/normalize/normalizer_step.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class AlignedText {
public:
  AlignedText(const std::uint8_t *data, std::size_t size);

  // Returns the number of characters.
  std::size_t size() const { return characters_.size(); }

  // Normalizes the text.
  void apply(const NormalizerStep &step);

  // Returns for each byte of the text the offset in the original text of its character.
  std::vector<std::size_t> byte_sources() const;

private:
  struct Character {
    std::uint32_t code_point; // U+DC00 + byte for a byte that is not UTF-8
    std::size_t source;       // the offset in the original text, in bytes
  };
  // A character of the new text, and a number, as in Hugging Face's tokenizers: 0 replaces the
  // next old character; -n also drops the n old characters after it; 1 is inserted, with the
  // source of the old character before it.
  struct Change {
    std::uint32_t code_point;
    std::ptrdiff_t change;
  };

  void transform(const std::vector<Change> &changes);
  // Replaces each character by the result of spell(code_point, bytes), in UTF-8.
  template <typename Spell> void expand(Spell spell);
  void to_form(bool composes, bool is_compatible);
  void replace(const NormalizerStep &step);
  void precompile(const NormalizerStep &step);

  std::vector<std::uint8_t> bytes() const;
  // Returns for each byte the index of its character, and at the end the number of characters.
  std::vector<std::size_t> byte_indices() const;
  bool is_ascii_text() const;

  std::vector<Character> characters_;
};

} // namespace pretok
