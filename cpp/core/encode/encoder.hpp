// Encodes a text in one pass: finds added tokens, splits the parts between added tokens into
// pre-tokens, and merges the pre-tokens.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/base/id_buffer.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/cache/pre_token_cache.hpp"
#include "core/encode/added.hpp"
#include "core/encode/batch_encoder.hpp"
#include "core/encode/text_spaces.hpp"
#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace pretok {

// Threads may share an Encoder. Its pre-tokenizer and vocabulary must outlive it.
class Encoder {
public:
  // If `is_whole`, the model does not split text. The pre-tokens are then the segments between
  // merge barriers (merge_barriers.hpp), and most segments are words. `pre_tokenizer` then
  // serves only to find safe cuts (safe_cut_between.hpp): the caller makes sure that no merge
  // crosses its boundaries.
  Encoder(const PreTokenizer &pre_tokenizer, const Vocabulary &vocabulary, TextSpaces spaces,
          std::size_t cache_limit = CacheBudget::DEFAULT_LIMIT, bool is_whole = false)
      : pre_tokenizer_(pre_tokenizer), vocabulary_(vocabulary), spaces_(spaces),
        is_whole_(is_whole && vocabulary.barriers() != nullptr),
        batch_encoder_(vocabulary, is_whole_), caches_(cache_limit) {}

  CachePool &caches() const { return caches_; }
  const PreTokenizer &pre_tokenizer() const { return pre_tokenizer_; }
  const TextSpaces &spaces() const { return spaces_; }

  // Returns whether a pre-token may be cut between the first two code points of data[0..size),
  // which it has: both parts of the pre-token together have its ids. `is_joint` says whether
  // the cut changes no other pre-token (neighbors.hpp).
  //
  // No merge crosses a barrier. But the pre-token or a part may be an unreachable token.
  bool divides(const std::uint8_t *data, std::size_t size, bool is_joint) const {
    const MergeBarriers *const barriers = vocabulary_.barriers();
    return (is_joint || is_whole_) && barriers != nullptr &&
           vocabulary_.unreachable_tokens().is_empty() &&
           barriers->begins_with_barrier(data, size);
  }

  // Says whether `data` is the first part of a text or a later part. A later part begins at a
  // safe cut (safe_cut_between.hpp).
  enum class Part { FIRST, LATER };

  // Appends the ids of `size` bytes, which need not be valid UTF-8. Stops at the first token
  // that `added` refuses, and returns the token and its byte offset in `data`. Throws
  // std::bad_alloc.
  Refusal encode(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                 PreTokenCache &cache, IdBuffer &ids, Part which = Part::FIRST) const;

  // Adds to `result` the number of ids that `encode` would append. Takes less memory than
  // `encode`: stores the ids of one batch at a time, not of the whole text.
  Refusal count(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                PreTokenCache &cache, std::size_t &result, Part which = Part::FIRST) const;

  // Like `encode`. For each id, also appends the start and the end of its token in `data`, in
  // bytes.
  Refusal encode_spans(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                       PreTokenCache &cache, IdBuffer &ids, std::vector<std::int64_t> &starts,
                       std::vector<std::int64_t> &ends, Part which = Part::FIRST) const;

  // Like `encode`, but leaves out merges at random, without a cache. The vocabulary must be one
  // for Vocabulary::merge_some.
  Refusal encode_some(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                      Dropout &dropout, IdBuffer &ids, Part which = Part::FIRST) const;

  // An added token, or a part of a text between added tokens.
  struct EncodedPart {
    Segment segment;
    bool prefixed; // whether the prefix of TextSpaces comes before it
  };

  // Does the first half of encode_spans: appends the ids and their parts.
  Refusal encode_for_spans(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                           PreTokenCache &cache, IdBuffer &ids, std::vector<EncodedPart> &parts,
                           Part which = Part::FIRST) const {
    return encode_parts(data, size, added, cache, ids, which, nullptr, &parts);
  }
  // Does the second half: appends the spans of `count` ids, which are those of `parts`.
  void append_spans(const std::uint8_t *data, const std::vector<EncodedPart> &parts,
                    const std::uint32_t *ids, std::size_t count,
                    std::vector<std::int64_t> &starts, std::vector<std::int64_t> &ends) const;

private:
  // Says which Segments of a text (added.hpp) get the prefix of TextSpaces, a space. The caller
  // passes all Segments in order.
  class Prefixes {
  public:
    Prefixes(const TextSpaces &spaces, const std::uint8_t *data, Part which)
        : spaces_(spaces), data_(data), which_(which), is_begun_(which == Part::LATER) {}

    // Returns whether the prefix comes before this segment. Before an added token, the prefix
    // is encoded by itself.
    bool comes_before(const Segment &segment) {
      if (spaces_.precedes_tokens) {
        const bool was_begun = is_begun_;
        is_begun_ = segment.token == nullptr || segment.token->normalized;
        return is_begun_ && !was_begun && spaces_.prefix != TextSpaces::Prefix::NONE;
      }
      const bool is_first = segment.start == 0;
      return segment.token == nullptr && !(is_first && which_ == Part::LATER) &&
             spaces_.has_prefix(data_ + segment.start, segment.end - segment.start, is_first);
    }

  private:
    const TextSpaces &spaces_;
    const std::uint8_t *data_;
    Part which_;
    // Only for `precedes_tokens`. True if text or a normalized token has come since the last
    // token that is not normalized: a prefix is due only before the first of these segments.
    bool is_begun_;
  };

  using OnBatch = std::function<void()>;

  // Calls emit(part) for each part of a text.
  template <typename Emit>
  Refusal split_parts(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                      Part which, const Emit &emit) const {
    Prefixes prefixes(spaces_, data, which);
    return added.split(data, size, [&](const Segment &segment) {
      emit(EncodedPart{segment, prefixes.comes_before(segment)});
    });
  }

  // Functions with the argument `on_batch` call on_batch() after each batch of ids, unless
  // `on_batch` is empty. encode_text encodes a part between added tokens. `text` may be empty
  // only if `has_prefix`: then the prefix is encoded by itself. encode_parts appends the parts
  // and the added tokens to `parts`, unless it is nullptr.
  Refusal encode_parts(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                       PreTokenCache &cache, IdBuffer &ids, Part which, const OnBatch &on_batch,
                       std::vector<EncodedPart> *parts = nullptr) const;
  // Appends the ids and the spans of a part, if needs_pre_token_spans().
  void encode_spans_of_part(const std::uint8_t *data, const EncodedPart &part, IdBuffer &ids,
                            std::vector<std::int64_t> &starts,
                            std::vector<std::int64_t> &ends) const;
  void encode_text(const std::uint8_t *text, std::size_t size, bool has_prefix,
                   PreTokenCache &cache, IdBuffer &ids, const OnBatch &on_batch) const;
  // Returns a part with its prefix, and with the changes of TextSpaces.
  std::vector<std::uint8_t> changed_text(const std::uint8_t *text, std::size_t size,
                                         bool has_prefix) const;
  // Calls emit(ends, count) with the ends of the next pre-tokens, until the end of `text`.
  template <typename Emit>
  void split_text(const std::uint8_t *text, std::size_t size, const Emit &emit) const;
  void split_and_encode(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                        IdBuffer &ids, const OnBatch &on_batch) const;
  // Like split_and_encode, for a pre-tokenizer that drops parts of the text.
  void split_and_encode_kept(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                             IdBuffer &ids, const OnBatch &on_batch) const;
  // Returns whether the ids of a text do not tell the spans of their tokens.
  bool needs_pre_token_spans() const {
    return pre_tokenizer_.removes() || vocabulary_.characters() != nullptr;
  }
  void split_and_merge_some(const std::uint8_t *text, std::size_t size, Dropout &dropout,
                            IdBuffer &ids) const;
  // Appends the ids of a part between added tokens. Calls on_span(start, end) for each id, with
  // the span of its token in `text`. Uses no cache.
  void encode_pre_tokens(const std::uint8_t *text, std::size_t size, IdBuffer &ids,
                         FunctionRef<void(std::size_t, std::size_t)> on_span) const;

  const PreTokenizer &pre_tokenizer_;
  const Vocabulary &vocabulary_;
  TextSpaces spaces_;
  bool is_whole_;
  BatchEncoder batch_encoder_;
  mutable CachePool caches_;
};

} // namespace pretok
