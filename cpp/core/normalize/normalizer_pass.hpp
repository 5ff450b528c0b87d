// The passes that do the work of NormalizerChain, each over a whole text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// For the first byte of each character of a normalized text: the offset in the original text of
// the character that it comes from, or NO_ORIGIN. For any other byte: SAME_ORIGIN.
using Origins = std::vector<std::int64_t>;
// The origin of a character that is inserted before the first character.
inline constexpr std::int64_t NO_ORIGIN = -1;
// The byte has the origin of the byte before it.
inline constexpr std::int64_t SAME_ORIGIN = -2;

// While passes run, this byte replaces each byte that is not UTF-8. Otherwise, a pass that
// drops the text between two such bytes could join them to a character that the next pass
// changes.
inline constexpr std::uint8_t INVALID_BYTE = 0xFF;

// The text that a pass writes.
struct PassResult {
  std::vector<std::uint8_t> &bytes;
  Origins *origins; // or nullptr. A byte inside a character may have any origin
  // The values of each INVALID_BYTE of the text, in order; or nullptr if it has none. A pass
  // that drops one also erases its value.
  std::vector<std::uint8_t> *invalid = nullptr;

  // Appends characters that come from the character at `origin`.
  void append(const std::uint8_t *text, std::size_t size, std::size_t origin);
  // Appends data[start..end) of the text itself.
  void keep(const std::uint8_t *data, std::size_t start, std::size_t end);
};

// Replaces each byte that is not UTF-8 by INVALID_BYTE. Returns the replaced bytes.
std::vector<std::uint8_t> replace_invalid(std::vector<std::uint8_t> &text);

class NormalizerPass {
public:
  virtual ~NormalizerPass() = default;
  // Appends to `result`, which is empty.
  virtual void run(const std::uint8_t *data, std::size_t size, PassResult &result) const = 0;
};

// A character of the new text, and a number, as in Hugging Face's tokenizers: 0 replaces the
// next old character; -n also drops the n old characters after it; 1 is inserted, with the
// origin of the old character before it.
struct Change {
  std::uint32_t code_point; // U+DC00 + byte for a byte that is not UTF-8
  std::ptrdiff_t change;
};

// Appends the origins of the bytes of the new text. `starts` are the offsets of the characters
// of the old text.
void append_origins(const std::vector<Change> &changes, const std::vector<std::size_t> &starts,
                    Origins &origins);

} // namespace pretok
