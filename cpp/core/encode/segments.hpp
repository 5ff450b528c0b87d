// Encodes a text of several segments, of which each has its own added tokens.
// bpe/encoding/segments.py does the same in Python.
#pragma once

#include "core/encode/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// The place of a token. It begins at byte `start` of the text of `segment`, and ends at byte
// `end` of the text of `end_segment`, excluded. An id that a segment gives has its index
// instead of a byte offset.
struct SegmentSpan {
  std::size_t segment;
  std::size_t start;
  std::size_t end_segment;
  std::size_t end;
};

// The segments are one text: pre-tokens and tokens may cross from one segment to the next, and
// flags of an added token look into the next one. But a match of an added token crosses no end
// of a segment. Nothing crosses the ids of a segment.
class SegmentedText {
public:
  void reserve(std::size_t segments, std::size_t bytes);
  // Adds a segment: a text in which only `tokens` are searched, and then ids. The tokens must
  // outlive the SegmentedText.
  void add(const std::uint8_t *text, std::size_t size, const AddedTokens &tokens,
           const std::uint32_t *ids = nullptr, std::size_t id_count = 0);

  // Returns the number of bytes of all segments.
  std::size_t size() const { return text_.size(); }
  // Appends the ids of all segments. Offsets count the bytes of all segments together.
  Refusal encode(const Tokenizer &tokenizer, PreTokenCache &cache, IdBuffer &ids,
                 Encoder::Part which = Encoder::Part::FIRST);
  // Returns the spans of the tokens, for the ids of `encode`.
  Spans spans(const Tokenizer &tokenizer, const std::uint32_t *ids, std::size_t count) const;
  // For these spans: returns for each segment the number of tokens that begin before its end.
  std::vector<std::int64_t> token_ends(const Spans &spans) const;
  // Appends the place of each token. `first` is the index of the first segment.
  void add_places(const Spans &spans, std::size_t first,
                  std::vector<SegmentSpan> &places) const;
  // Returns the segment with byte `position` of all segments, and sets `position` to the offset
  // in its text.
  std::size_t locate(std::size_t &position) const;

private:
  std::size_t begin_of(std::size_t segment) const {
    return segment == 0 ? 0 : (*ranges_)[segment - 1].end;
  }

  using Ranges = std::vector<AddedTokens::TextRange>;

  std::vector<std::uint8_t> text_;
  std::shared_ptr<Ranges> ranges_ = std::make_shared<Ranges>();
  PendingSpans pending_;
};

} // namespace pretok
