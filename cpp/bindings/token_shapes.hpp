// Finds the spans of tokens from their ids.
#pragma once

#include "core/base/noinline.hpp"
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
    short_shapes_.reserve(limit);
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
      short_shapes_.push_back(short_shape_of(shape));
    }
  }

  // The place of `find` in a text.
  struct Progress {
    std::size_t size;        // of the text, in code points
    bool has_prefix;         // whether the first token starts with a space before the text
    bool is_first = true;    // whether no token is found yet
    std::uint32_t found = 0; // the number of code points of the tokens found so far
  };

  // Writes the spans of the next `count` ids of a text that is exactly its tokens. A span that
  // contains only some bytes of a code point gets the whole code point. Returns false if the
  // shapes do not tell all spans. They do not either if Progress::found is another number than
  // Progress::size after the last id.
  bool find(const std::uint32_t *ids, std::size_t count, Progress &progress,
            Span *spans) const {
    const std::uint8_t *const shapes = short_shapes_.data();
    const std::size_t limit = short_shapes_.size();
    std::uint32_t at = progress.found;
    for (std::size_t i = 0; i < count; ++i) {
      if (ids[i] >= limit)
        return false;
      const std::uint32_t shape = shapes[ids[i]];
      if (shape == OTHER_SHAPE || at == 0) {
        const std::optional<Step> step = find_one(ids[i], at, progress);
        if (!step)
          return false;
        spans[i] = step->span;
        at = step->found;
      } else {
        const std::uint32_t start = at + shape / MAX_SHORT - 1;
        at += shape % MAX_SHORT;
        spans[i] = {start, at};
      }
    }
    progress.found = at;
    return true;
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

  struct Step {
    Span span;
    std::uint32_t found; // Progress::found after the token
  };

  // Most shapes fit into one byte, and a table of bytes into the processor's cache. Such a byte
  // is `starts` plus MAX_SHORT times the distance of the start of the span from the end of the
  // previous token, plus 1. The span ends at the end of its token.
  static constexpr std::uint8_t MAX_SHORT = 32;
  static constexpr std::uint8_t OTHER_SHAPE = 0xFF;

  static std::uint8_t short_shape_of(Shape shape) {
    const bool is_empty = shape.starts == 0 && shape.begins_inside == 0;
    const int max_leading = shape.begins_inside != 0 ? 0 : shape.starts;
    if (is_empty || shape.starts >= MAX_SHORT || shape.leading > max_leading ||
        shape.trailing != 0)
      return OTHER_SHAPE;
    const int byte = (shape.leading - shape.begins_inside + 1) * MAX_SHORT + shape.starts;
    return byte < OTHER_SHAPE ? static_cast<std::uint8_t>(byte) : OTHER_SHAPE;
  }

  // Finds the span of any token.
  PRETOK_NOINLINE std::optional<Step> find_one(std::uint32_t id, std::uint32_t before,
                                               Progress &progress) const {
    const Shape shape = shapes_[id];
    const bool is_first = std::exchange(progress.is_first, false);
    const std::uint32_t prefix = is_first && progress.has_prefix ? 1 : 0;
    const std::uint32_t found = before + shape.starts - prefix;
    const std::uint32_t start = before - shape.begins_inside;
    // A token that is only the prefix gets the first code point of the text.
    Span span{start, start == found && found < progress.size ? found + 1 : found};
    if (trims_ && !trim(shape, is_first, span))
      return std::nullopt;
    return Step{span, found};
  }

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
  std::vector<Shape> shapes_;              // by id
  std::vector<std::uint8_t> short_shapes_; // by id
};

} // namespace pretok
