// The space before a text, and marks that stand for spaces.
//
// Models of SentencePiece write each space of a text and of a token as the mark U+2581, and put
// a mark before the text. Here their tokens have spaces in place of marks. So spaces in text
// need no change. Only marks in text, which are rare, are replaced by spaces.
#pragma once

#include "core/unicode/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Added tokens divide a text into parts. TextSpaces says how the spaces of a part are encoded.
struct TextSpaces {
  // UNLESS_SPACE: no prefix before a part that begins with a space (or a mark, if `are_marks`).
  enum class Prefix { NONE, UNLESS_SPACE, ALWAYS };

  Prefix prefix = Prefix::NONE;  // whether a part gets a prefix, a space before it
  bool only_first = false;       // a part after an added token gets no prefix
  bool are_marks = false;        // for models of SentencePiece: marks in text become spaces
  bool replaces_invalid = false; // if are_marks: an invalid byte becomes U+FFFD
  // If true, the prefix is added first, and then normalized added tokens are searched. If such
  // a token follows the prefix, the prefix is encoded by itself, and the text after the token
  // gets no prefix. If false, each part gets a prefix.
  bool precedes_tokens = false;
  // If true, a token that consists of the prefix alone gets the span of the first character. If
  // false, the span of this token is empty.
  bool prefix_has_span = false;

  // Returns the TextSpaces of a byte-level model with this value of the option
  // add_prefix_space.
  static TextSpaces of(bool add_prefix_space) {
    TextSpaces spaces;
    spaces.prefix = add_prefix_space ? Prefix::UNLESS_SPACE : Prefix::NONE;
    return spaces;
  }

  // Returns whether `prefix` puts a space before a part. The part must not be empty. `is_first`
  // says whether the part is at the start of the whole text.
  bool has_prefix(const std::uint8_t *part, std::size_t size, bool is_first) const {
    return prefix != Prefix::NONE && (is_first || !only_first) &&
           (prefix == Prefix::ALWAYS ||
            !(part[0] == ' ' || (are_marks && is_mark(part, size))));
  }

  // Returns whether `append` would change a part.
  bool changes(const std::uint8_t *part, std::size_t size) const {
    return are_marks && has_changes(part, size);
  }

  // Appends a part with its marks and invalid bytes replaced.
  void append(const std::uint8_t *part, std::size_t size, std::vector<std::uint8_t> &to) const;

  // Returns the number of bytes that `append` writes for a character of a part.
  std::size_t size_of(const std::uint8_t *character, Decoded decoded) const {
    if (are_marks && decoded.code_point == MARK)
      return 1;
    return replaces_invalid && is_invalid(decoded, character) ? 3 : decoded.width;
  }

  // Returns whether these bytes contain a mark.
  static bool has_mark(const std::uint8_t *bytes, std::size_t size);

  static bool is_mark(const std::uint8_t *bytes, std::size_t size) {
    return size >= 3 && bytes[0] == 0xE2 && bytes[1] == 0x96 && bytes[2] == 0x81;
  }

private:
  static constexpr std::uint32_t MARK = 0x2581;

  static bool is_invalid(Decoded decoded, const std::uint8_t *character) {
    return decoded.width == 1 && character[0] >= 0x80;
  }

  bool has_changes(const std::uint8_t *part, std::size_t size) const;
};

// Maps offsets in a changed part to offsets in the original part. The changed part has a
// prefix, or was written by TextSpaces::append, or both. If TextSpaces::are_marks, the span of
// a token that begins or ends within a character includes the whole character.
class TextSpacesSource {
public:
  // The arguments must outlive this object.
  TextSpacesSource(const TextSpaces &spaces, const std::uint8_t *part, std::size_t size,
                   bool has_prefix)
      : spaces_(spaces), part_(part), size_(size), prefix_(has_prefix ? 1 : 0) {}

  // Sets `start` and `end` to the span of the next token in the original part. The token has
  // `size` bytes.
  void next(std::size_t size, std::size_t &start, std::size_t &end) {
    find(done_, done_ + size, start, end);
    done_ += size;
  }
  // Sets `start` and `end` to the span in the original part of the bytes [from, to) of the
  // changed part. If TextSpaces::are_marks, spans must ascend: no span may begin before the end
  // of the previous one.
  void find(std::size_t from, std::size_t to, std::size_t &start, std::size_t &end);

  // Widens a span in a part without changes but the prefix to whole characters, as `find` does
  // if TextSpaces::are_marks. Spans may come in any order.
  void widen(std::size_t &start, std::size_t &end) const {
    if (is_within(start))
      start = character_at(start);
    if (is_within(end) || (end == 0 && spaces_.prefix_has_span))
      widen_end(end);
  }

private:
  // Returns whether byte `at` may be within a character. If it is false, a character starts
  // there.
  bool is_within(std::size_t at) const { return at < size_ && is_tail(part_[at]); }
  // Returns the start of the character that contains byte `at`.
  std::size_t character_at(std::size_t at) const;
  void widen_end(std::size_t &end) const;
  void skip_to(std::size_t offset);
  std::size_t width() const;

  const TextSpaces &spaces_;
  const std::uint8_t *part_;
  std::size_t size_;
  std::size_t prefix_;
  std::size_t done_ = 0; // in the changed part, the end of the last token of `next`
  // The start of a character in the original part, and its start in the changed part, not
  // counting the prefix.
  std::size_t source_ = 0;
  std::size_t changed_ = 0;
};

} // namespace pretok
