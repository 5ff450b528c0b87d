#include "core/encode/segments.hpp"

#include <algorithm>

namespace pretok {

void SegmentedText::reserve(std::size_t segments, std::size_t bytes) {
  ranges_->reserve(segments);
  text_.reserve(bytes);
}

void SegmentedText::add(const std::uint8_t *text, std::size_t size, const AddedTokens &tokens,
                        const std::uint32_t *ids, std::size_t id_count) {
  text_.insert(text_.end(), text, text + size);
  AddedTokens::TextRange &range = ranges_->emplace_back();
  range.end = text_.size();
  range.tokens = &tokens;
  for (std::size_t i = 0; i < id_count; ++i)
    range.given.emplace_back().id = ids[i];
}

Refusal SegmentedText::encode(const Tokenizer &tokenizer, PreTokenCache &cache, IdBuffer &ids,
                              Encoder::Part which) {
  const AddedTokenPhases added(AddedTokens::of_ranges(ranges_));
  pending_ = PendingSpans();
  return tokenizer.encode_for_spans(text_.data(), text_.size(), added, cache, ids, pending_,
                                    which);
}

Spans SegmentedText::spans(const Tokenizer &tokenizer, const std::uint32_t *ids,
                           std::size_t count) const {
  Spans spans;
  tokenizer.append_spans(text_.data(), pending_, ids, count, spans);
  return spans;
}

std::vector<std::int64_t> SegmentedText::token_ends(const Spans &spans) const {
  std::vector<std::int64_t> ends;
  ends.reserve(ranges_->size());
  const std::size_t count = spans.starts.size();
  std::size_t next = 0;
  for (const AddedTokens::TextRange &range : *ranges_) {
    // Normalizing may sort marks, so starts may descend. But they never descend across an end
    // of a part.
    const auto end = static_cast<std::int64_t>(range.end);
    while (next < count && spans.ends[next] != GIVEN_TOKEN &&
           (spans.starts[next] < end || !range.given.empty()))
      ++next;
    next += range.given.size();
    ends.push_back(static_cast<std::int64_t>(next));
  }
  if (!ends.empty())
    ends.back() = static_cast<std::int64_t>(count); // a prefix alone may come after all bytes
  return ends;
}

void SegmentedText::add_places(const Spans &spans, std::size_t first,
                               std::vector<SegmentSpan> &places) const {
  const Ranges &ranges = *ranges_;
  const std::vector<std::int64_t> ends = token_ends(spans);
  std::size_t token = 0;
  for (std::size_t at = 0; at < ranges.size(); ++at) {
    const auto token_end = static_cast<std::size_t>(ends[at]);
    const std::size_t begin = begin_of(at);
    const std::size_t given = ranges[at].given.size();
    for (; token < token_end - given; ++token) {
      const auto start = static_cast<std::size_t>(spans.starts[token]);
      const auto end = static_cast<std::size_t>(spans.ends[token]);
      std::size_t last = at;
      while (last + 1 < ranges.size() && ranges[last].end < end)
        ++last;
      places.push_back({first + at, std::max(start, begin) - begin, first + last,
                        std::max(end, begin_of(last)) - begin_of(last)});
    }
    for (std::size_t i = 0; i < given; ++i, ++token)
      places.push_back({first + at, i, first + at, i + 1});
  }
}

std::size_t SegmentedText::locate(std::size_t &position) const {
  std::size_t at = 0;
  while (at + 1 < ranges_->size() && (*ranges_)[at].end <= position)
    ++at;
  position -= std::min(position, begin_of(at));
  return at;
}

} // namespace pretok
