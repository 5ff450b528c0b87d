// A text of segments that a PromptCache encodes.
#pragma once

#include "core/session/prompt_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace pretok {

class PromptText {
public:
  // If not `joined`, each segment is a text of its own.
  explicit PromptText(bool joined) : joined_(joined) {}

  void reserve(std::size_t segments) { segments_.reserve(segments); }
  // Adds a segment, and copies its text and ids. The caller keeps `added` and `policy`.
  void add(const std::uint8_t *text, std::size_t size, const AddedTokenPhases &added,
           std::string_view policy, const std::uint32_t *ids, std::size_t id_count) {
    if (size != 0)
      text_.insert(text_.end(), text, text + size);
    if (id_count != 0)
      ids = given_.emplace_back(ids, ids + id_count).data();
    segments_.push_back({text_.size(), &added, policy, ids, id_count});
  }

  // Returns the number of bytes of all segments.
  std::size_t size() const { return text_.size(); }
  // Like PromptCache::encode. Positions count the bytes of all segments.
  PromptCache::Result encode(PromptCache &prompts, const Tokenizer &tokenizer,
                             const AddedTokenPhases &all, std::string_view salt,
                             PreTokenCache &cache, IdBuffer &ids,
                             FunctionRef<void()> between_chunks) const {
    if (joined_)
      return prompts.encode(tokenizer, text_.data(), text_.size(),
                            {all, salt, segments_.data(), segments_.size()}, cache, ids,
                            between_chunks);
    PromptCache::Result result;
    const std::size_t first_id = ids.size();
    std::size_t start = 0;
    for (PromptSegment segment : segments_) {
      const std::size_t size = segment.end - start;
      const std::size_t before = ids.size() - first_id;
      segment.end = size;
      const PromptCache::Result one =
          prompts.encode(tokenizer, text_.data() + start, size, {all, salt, &segment, 1}, cache,
                         ids, between_chunks);
      if (one.refusal.token != nullptr) {
        result.refusal = {one.refusal.token, one.refusal.position + start};
        return result;
      }
      if (result.reused_prefix == before)
        result.reused_prefix += one.reused_prefix;
      result.reused += one.reused;
      result.ends.push_back(static_cast<std::int64_t>(ids.size() - first_id));
      start += size;
    }
    return result;
  }
  // Returns the segment with byte `position` of all segments, and sets `position` to the offset
  // in its text.
  std::size_t locate(std::size_t &position) const {
    std::size_t at = 0;
    while (at + 1 < segments_.size() && segments_[at].end <= position)
      ++at;
    position -= at == 0 ? 0 : segments_[at - 1].end;
    return at;
  }

private:
  bool joined_;
  std::vector<std::uint8_t> text_;
  std::deque<std::vector<std::uint32_t>> given_;
  std::vector<PromptSegment> segments_;
};

} // namespace pretok
