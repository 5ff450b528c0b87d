// Finds the spans of tokens from their ids.
#pragma once

#include "core/base/prefetch.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace pretok {

// The numbers of spaces at the start and at the end of each token.
struct TokenSpaces {
  // The value of `leading` for a token whose number of spaces depends on the text.
  static constexpr std::uint8_t UNKNOWN = 0xFF;

  struct Count {
    std::uint8_t leading;
    std::uint8_t trailing;
  };

  std::vector<Count> counts; // by id
  // If true, a single leading space stays in the span of the first token, and of any other
  // token whose span starts at the start of the text.
  bool keeps_first = false;
};

// A half-open span of a text, in code points.
struct Span {
  std::uint32_t start;
  std::uint32_t end;
};

// For each id of a vocabulary, the properties of a token that its span depends on.
class TokenShapes {
public:
  // `limit` is the largest id plus one. If `spaces` is not empty, `trim` excludes these spaces.
  TokenShapes(const Vocabulary &vocabulary, std::size_t limit,
              const std::optional<TokenSpaces> &spaces)
      : trims_(spaces.has_value()), keeps_first_(trims_ && spaces->keeps_first) {
    shapes_.reserve(limit);
    for (std::size_t id = 0; id < limit; ++id) {
      const TokenView token = vocabulary.token(static_cast<std::uint32_t>(id));
      Shape shape{0, 0, 0, 0};
      if (token.size != 0 && token.size <= std::numeric_limits<std::uint8_t>::max()) {
        shape.starts = static_cast<std::uint8_t>(
            std::count_if(token.bytes, token.bytes + token.size,
                          [](std::uint8_t byte) { return !is_tail(byte); }));
        shape.begins_inside = is_tail(token.bytes[0]) ? 1 : 0;
      }
      if (trims_) {
        const TokenSpaces::Count count = id < spaces->counts.size()
                                             ? spaces->counts[id]
                                             : TokenSpaces::Count{TokenSpaces::UNKNOWN, 0};
        shape.leading = count.leading;
        shape.trailing = count.trailing;
      }
      shapes_.push_back(shape);
    }
  }

  // Writes the span of each of `count` ids: those of a text of `size` code points that is
  // exactly their tokens, after a space if `has_prefix`. A span that contains only some bytes
  // of a code point gets the whole code point. Returns false if the shapes do not tell all
  // spans, or if the tokens have another number of code points.
  bool find(const std::uint32_t *ids, std::size_t count, std::size_t size, bool has_prefix,
            Span *spans) const {
    std::size_t at = 0;
    std::size_t prefix = has_prefix ? 1 : 0; // of the next token
    for (std::size_t i = 0; i < count; ++i) {
      if (i + AHEAD < count && ids[i + AHEAD] < shapes_.size())
        prefetch(&shapes_[ids[i + AHEAD]]);
      if (ids[i] >= shapes_.size())
        return false;
      const Shape shape = shapes_[ids[i]];
      const std::size_t start = at - shape.begins_inside;
      at += shape.starts - std::exchange(prefix, 0);
      // A token that is only the prefix gets the first code point of the text.
      const std::size_t end = start == at && at < size ? at + 1 : at;
      spans[i] = {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)};
      if (trims_ && !trim(shape, i == 0, spans[i]))
        return false;
    }
    return at == size;
  }

  // Excludes the spaces at both ends of tokens from their spans. Returns false if the number of
  // spaces of a token is unknown.
  bool trim(const std::uint32_t *ids, std::size_t count, Span *spans) const {
    for (std::size_t i = 0; trims_ && i < count; ++i)
      if (ids[i] >= shapes_.size() || !trim(shapes_[ids[i]], i == 0, spans[i]))
        return false;
    return true;
  }

private:
  struct Shape {
    std::uint8_t starts;        // the number of bytes that start a code point
    std::uint8_t begins_inside; // 1 if the first byte starts no code point, else 0
    std::uint8_t leading;       // the fields of TokenSpaces::Count
    std::uint8_t trailing;
  };

  static constexpr std::size_t AHEAD =
      16; // the shape of a token is prefetched so many ids ahead

  bool trim(Shape shape, bool is_first, Span &span) const {
    if (shape.leading == TokenSpaces::UNKNOWN)
      return false;
    const bool keeps = keeps_first_ && shape.leading == 1 && (is_first || span.start == 0);
    span.start = std::min(span.start + (keeps ? 0 : shape.leading), span.end);
    if (span.end >= shape.trailing)
      span.end = std::max(span.end - shape.trailing, span.start);
    return true;
  }

  bool trims_;
  bool keeps_first_;
  std::vector<Shape> shapes_; // by id
};

} // namespace pretok
