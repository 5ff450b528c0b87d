// pretok_encode_segments: a text whose parts have different policies for added tokens.
#include "capi/segment_call.hpp"
#include "core/encode/segments.hpp"

#include <algorithm>
#include <vector>

namespace pretok {
namespace {

// The result of a call.
struct Segmented {
  IdBuffer ids;
  std::vector<SegmentSpan> places;
  std::vector<std::int64_t> ends;
  bool has_places = true; // whether the caller wants `places` and `ends`
};

// Checks a segment of the caller, and adds it to `segments`.
pretok_status add_segment(const pretok_tokenizer &tokenizer, const pretok_segment &given,
                          SegmentedText &segments, pretok_error *error) {
  EncodeCall call;
  if (const pretok_status status = read_segment(tokenizer, given, call, error))
    return status;
  // The tokens belong to the tokenizer or the set, and outlive the call.
  segments.add(reinterpret_cast<const std::uint8_t *>(given.text), given.size, call.policy->all,
               given.ids, given.id_count);
  return PRETOK_OK;
}

// Encodes segments as one text, and appends the result. `first` is the index of the first one.
pretok_status encode(const Tokenizer &tokenizer, SegmentedText &segments, std::size_t first,
                     Segmented &result, std::size_t *failed_segment, pretok_error *error) {
  const CacheLease cache(tokenizer.caches());
  const std::size_t done = result.ids.size();
  Refusal refusal = segments.encode(tokenizer, *cache, result.ids);
  if (refusal.token != nullptr) {
    const std::size_t segment = first + segments.locate(refusal.position);
    EncodeCall call;
    call.tokenizer = &tokenizer;
    return fail_segment(segment, call.refuse(refusal, 0, error), failed_segment, error);
  }
  if (!result.has_places)
    return PRETOK_OK;
  const Spans spans =
      segments.spans(tokenizer, result.ids.data() + done, result.ids.size() - done);
  for (const std::int64_t end : segments.token_ends(spans))
    result.ends.push_back(static_cast<std::int64_t>(done) + end);
  segments.add_places(spans, first, result.places);
  return PRETOK_OK;
}

pretok_status encode_all(const pretok_tokenizer &tokenizer, const pretok_segment *given,
                         std::size_t count, bool joined, Segmented &result,
                         std::size_t *failed_segment, pretok_error *error) {
  SegmentedText segments;
  for (std::size_t i = 0; i < count; ++i) {
    if (const pretok_status status = add_segment(tokenizer, given[i], segments, error))
      return fail_segment(i, status, failed_segment, error);
    if (joined)
      continue;
    if (const pretok_status status =
            encode(*tokenizer.core, segments, i, result, failed_segment, error))
      return status;
    segments = SegmentedText();
  }
  return joined && count != 0
             ? encode(*tokenizer.core, segments, 0, result, failed_segment, error)
             : PRETOK_OK;
}

} // namespace
} // namespace pretok

using namespace pretok;

pretok_status pretok_encode_segments(const pretok_tokenizer *tokenizer,
                                     const pretok_segment *segments, size_t segment_count,
                                     bool joined, uint32_t *ids, pretok_segment_span *spans,
                                     size_t capacity, size_t *count, size_t *ends,
                                     size_t *failed_segment, pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{tokenizer, "the tokenizer"},
                                                 {segments, "segments", segment_count != 0},
                                                 {ids, "ids", spans != nullptr},
                                                 {count, "count"}}))
    return status;
  return guarded(error, [&] {
    Segmented result;
    result.has_places = spans != nullptr || ends != nullptr;
    if (const pretok_status status = encode_all(*tokenizer, segments, segment_count, joined,
                                                result, failed_segment, error))
      return status;
    if (ends != nullptr)
      std::copy(result.ends.begin(), result.ends.end(), ends);
    if (const pretok_status status = return_ids(result.ids, ids, capacity, count, error))
      return status;
    if (spans != nullptr)
      for (const SegmentSpan &span : result.places)
        *spans++ = {span.segment, span.start, span.end_segment, span.end};
    return PRETOK_OK;
  });
}
