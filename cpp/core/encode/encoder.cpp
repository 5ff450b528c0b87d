#include "core/encode/encoder.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/segment_splitter.hpp"
#include "core/encode/batch_queue.hpp"
#include "core/simd/kernels.hpp"

#include <algorithm>
#include <array>

namespace pretok {

template <typename Emit>
void Encoder::split_text(const std::uint8_t *text, std::size_t size, const Emit &emit) const {
  if (!is_whole_)
    return split(pre_tokenizer_, Utf8(text, size, pre_tokenizer_.classes()), emit);
  std::array<std::size_t, SegmentSplitter::MAX_ENDS> ends;
  SegmentSplitter splitter(*vocabulary_.barriers(), kernels(), text, size);
  while (const std::size_t count = splitter.next(ends.data()))
    emit(static_cast<const std::size_t *>(ends.data()), count);
}

Refusal Encoder::encode(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                        PreTokenCache &cache, IdBuffer &ids, Part which) const {
  return encode_parts(data, size, added, cache, ids, which, nullptr);
}

Refusal Encoder::count(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                       PreTokenCache &cache, std::size_t &result, Part which) const {
  IdBuffer ids;
  return encode_parts(data, size, added, cache, ids, which, [&] {
    result += ids.size();
    ids.clear();
  });
}

Refusal Encoder::encode_parts(const std::uint8_t *data, std::size_t size,
                              const AddedTokens &added, PreTokenCache &cache, IdBuffer &ids,
                              Part which, const OnBatch &on_batch,
                              std::vector<EncodedPart> *parts) const {
  BatchQueue queue(batch_encoder_, kernels().instruction_set, data, size, cache, ids, on_batch);
  const Refusal refusal = split_parts(data, size, added, which, [&](const EncodedPart &each) {
    const Segment &segment = each.segment;
    const bool prefixed = each.prefixed;
    const std::uint8_t *const part = data + segment.start;
    const std::size_t part_size = segment.end - segment.start;
    if (parts != nullptr)
      parts->push_back(each);
    if (segment.token != nullptr) {
      if (prefixed) {
        queue.flush();
        encode_text(part, 0, true, cache, ids, on_batch);
        queue.skip_to(segment.start);
      }
      queue.add_token(segment.token->id, segment.start, segment.end);
      return;
    }
    // The queue takes only parts that TextSpaces does not change, and that are not split with
    // gaps. If there is only one part, the queue would gain nothing.
    if (part_size == size || prefixed || spaces_.changes(part, part_size) ||
        pre_tokenizer_.removes()) {
      queue.flush();
      encode_text(part, part_size, prefixed, cache, ids, on_batch);
      queue.skip_to(segment.end);
    } else {
      split_text(part, part_size, [&](const std::size_t *ends, std::size_t count) {
        queue.add(segment.start, ends, count);
      });
    }
  });
  queue.flush();
  return refusal;
}

// The tokens of spans are prefetched this many spans ahead.
static constexpr std::size_t SPANS_AHEAD = 16;

// Appends `count` zeros to `values`. Returns a pointer to the first of them.
static std::int64_t *room(std::vector<std::int64_t> &values, std::size_t count) {
  values.resize(values.size() + count);
  return values.data() + values.size() - count;
}

// Returns the end of the span of an added token.
static std::int64_t end_of(const Segment &segment) {
  return segment.token->content.empty() ? GIVEN_TOKEN : static_cast<std::int64_t>(segment.end);
}

Refusal Encoder::encode_spans(const std::uint8_t *data, std::size_t size,
                              const AddedTokens &added, PreTokenCache &cache, IdBuffer &ids,
                              std::vector<std::int64_t> &starts,
                              std::vector<std::int64_t> &ends, Part which) const {
  if (needs_pre_token_spans())
    return split_parts(data, size, added, which, [&](const EncodedPart &part) {
      encode_spans_of_part(data, part, ids, starts, ends);
    });
  const std::size_t done = ids.size();
  std::vector<EncodedPart> parts;
  const Refusal refusal = encode_for_spans(data, size, added, cache, ids, parts, which);
  append_spans(data, parts, ids.data() + done, ids.size() - done, starts, ends);
  return refusal;
}

void Encoder::append_spans(const std::uint8_t *data, const std::vector<EncodedPart> &parts,
                           const std::uint32_t *ids, std::size_t count,
                           std::vector<std::int64_t> &starts,
                           std::vector<std::int64_t> &ends) const {
  if (needs_pre_token_spans()) {
    IdBuffer same_ids;
    for (const EncodedPart &part : parts)
      encode_spans_of_part(data, part, same_ids, starts, ends);
    return;
  }
  std::int64_t *const first = room(starts, count);
  std::int64_t *const last = room(ends, count);
  std::size_t next = 0;
  for (const EncodedPart &part : parts) {
    const Segment &segment = part.segment;
    const std::uint8_t *const text = data + segment.start;
    const std::size_t text_size = segment.token == nullptr ? segment.end - segment.start : 0;
    const std::size_t prefix = part.prefixed ? 1 : 0;
    const bool is_changed = spaces_.changes(text, text_size);
    const std::size_t new_size =
        is_changed ? changed_text(text, text_size, part.prefixed).size() : prefix + text_size;
    TextSpacesSource source(spaces_, text, text_size, part.prefixed);
    for (std::size_t at = 0; at < new_size && next < count;
         ++next) { // `at` is in the text with its prefix
      if (next + SPANS_AHEAD < count)
        vocabulary_.prefetch_token(ids[next + SPANS_AHEAD]);
      const std::size_t token_end = at + vocabulary_.token(ids[next]).size;
      // Only the prefix shifts the spans in a text without other changes.
      std::size_t start = std::max(at, prefix) - prefix;
      std::size_t end = std::max(token_end, prefix) - prefix;
      if (is_changed)
        source.find(at, token_end, start, end);
      else if (spaces_.are_marks)
        source.widen(start, end);
      first[next] = static_cast<std::int64_t>(segment.start + start);
      last[next] = static_cast<std::int64_t>(segment.start + end);
      at = token_end;
    }
    if (segment.token != nullptr) {
      first[next] = static_cast<std::int64_t>(segment.start);
      last[next++] = end_of(segment);
    }
  }
}

void Encoder::encode_spans_of_part(const std::uint8_t *data, const EncodedPart &part,
                                   IdBuffer &ids, std::vector<std::int64_t> &starts,
                                   std::vector<std::int64_t> &ends) const {
  const Segment &segment = part.segment;
  const bool is_text = segment.token == nullptr;
  const std::uint8_t *const text = data + segment.start;
  const std::size_t text_size = is_text ? segment.end - segment.start : 0;
  TextSpacesSource source(spaces_, text, text_size, part.prefixed);
  if (is_text || part.prefixed) {
    const std::vector<std::uint8_t> changed = changed_text(text, text_size, part.prefixed);
    encode_pre_tokens(changed.data(), changed.size(), ids,
                      [&](std::size_t from, std::size_t to) {
                        std::size_t start = 0;
                        std::size_t end = 0;
                        source.find(from, to, start, end);
                        starts.push_back(static_cast<std::int64_t>(segment.start + start));
                        ends.push_back(static_cast<std::int64_t>(segment.start + end));
                      });
  }
  if (is_text)
    return;
  ids.append(segment.token->id);
  starts.push_back(static_cast<std::int64_t>(segment.start));
  ends.push_back(end_of(segment));
}

Refusal Encoder::encode_some(const std::uint8_t *data, std::size_t size,
                             const AddedTokens &added, Dropout &dropout, IdBuffer &ids,
                             Part which) const {
  Prefixes prefixes(spaces_, data, which);
  return added.split(data, size, [&](const Segment &segment) {
    const bool is_text = segment.token == nullptr;
    const bool prefixed = prefixes.comes_before(segment);
    const std::uint8_t *const text = data + segment.start;
    const std::size_t text_size = is_text ? segment.end - segment.start : 0;
    if (prefixed || spaces_.changes(text, text_size)) {
      const std::vector<std::uint8_t> changed = changed_text(text, text_size, prefixed);
      split_and_merge_some(changed.data(), changed.size(), dropout, ids);
    } else {
      split_and_merge_some(text, text_size, dropout, ids);
    }
    if (!is_text)
      ids.append(segment.token->id);
  });
}

void Encoder::split_and_merge_some(const std::uint8_t *text, std::size_t size, Dropout &dropout,
                                   IdBuffer &ids) const {
  const auto add = [&](std::size_t start, std::size_t end) {
    if (start != end)
      ids.add(
          vocabulary_.merge_some(text + start, end - start, dropout, ids.room(end - start)));
  };
  const Utf8 source(text, size, pre_tokenizer_.classes());
  if (pre_tokenizer_.removes())
    return pre_tokenizer_.spans_by_stage(
        source, kernels(), [&](std::size_t start, std::size_t end, int) { add(start, end); });
  std::size_t start = 0;
  split(pre_tokenizer_, source, [&](const std::size_t *ends, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      add(start, ends[i]);
      start = ends[i];
    }
  });
}

void Encoder::encode_text(const std::uint8_t *text, std::size_t size, bool has_prefix,
                          PreTokenCache &cache, IdBuffer &ids, const OnBatch &on_batch) const {
  if (!has_prefix && !spaces_.changes(text, size))
    return split_and_encode(text, size, cache, ids, on_batch);
  const std::vector<std::uint8_t> changed = changed_text(text, size, has_prefix);
  split_and_encode(changed.data(), changed.size(), cache, ids, on_batch);
}

std::vector<std::uint8_t> Encoder::changed_text(const std::uint8_t *text, std::size_t size,
                                                bool has_prefix) const {
  std::vector<std::uint8_t> changed;
  changed.reserve(size + 1);
  if (has_prefix)
    changed.push_back(' ');
  spaces_.append(text, size, changed);
  return changed;
}

void Encoder::split_and_encode(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                               IdBuffer &ids, const OnBatch &on_batch) const {
  if (pre_tokenizer_.removes())
    return split_and_encode_kept(text, size, cache, ids, on_batch);
  const InstructionSet instructions = kernels().instruction_set;
  std::size_t start = 0;
  split_text(text, size, [&](const std::size_t *ends, std::size_t count) {
    // Batches of equal size: a small last batch would mostly wait for memory.
    std::size_t batches = (count + PreTokenBatch::MAX_COUNT - 1) / PreTokenBatch::MAX_COUNT;
    for (std::size_t done = 0; done < count; --batches) {
      const std::size_t taken = (count - done + batches - 1) / batches;
      batch_encoder_.encode(
          instructions, {text, text + size, start, ends + done, taken, nullptr, 0}, cache, ids);
      done += taken;
      start = ends[done - 1];
      if (on_batch != nullptr)
        on_batch();
    }
  });
}

void Encoder::split_and_encode_kept(const std::uint8_t *text, std::size_t size,
                                    PreTokenCache &cache, IdBuffer &ids,
                                    const OnBatch &on_batch) const {
  BatchQueue queue(batch_encoder_, kernels().instruction_set, text, size, cache, ids, on_batch);
  std::size_t done = 0;
  pre_tokenizer_.spans_by_stage(Utf8(text, size, pre_tokenizer_.classes()), kernels(),
                                [&](std::size_t start, std::size_t end, int) {
                                  if (done < start)
                                    queue.add_token(NO_ID, done, start);
                                  const std::size_t width = end - start;
                                  queue.add(start, &width, 1);
                                  done = end;
                                });
  queue.flush();
}

void Encoder::encode_pre_tokens(const std::uint8_t *text, std::size_t size, IdBuffer &ids,
                                FunctionRef<void(std::size_t, std::size_t)> on_span) const {
  const CharacterMerging *const characters = vocabulary_.characters();
  std::vector<CharacterMerging::Span> spans;
  const auto encode_one = [&](std::size_t start, std::size_t end, int) {
    const std::uint8_t *const bytes = text + start;
    if (characters == nullptr) {
      const std::size_t count =
          vocabulary_.encode(bytes, end - start, text + size, ids.room(end - start));
      const std::uint32_t *const first = ids.data() + ids.size();
      for (std::size_t i = 0, at = start; i < count; ++i) {
        const std::size_t width = vocabulary_.token(first[i]).size;
        on_span(at, at + width);
        at += width;
      }
      return ids.add(count);
    }
    characters->spans(bytes, end - start, spans);
    std::uint32_t *to = ids.room(spans.size());
    for (const CharacterMerging::Span &span : spans) {
      *to++ = span.id;
      on_span(start + span.start, start + span.end);
    }
    ids.add(spans.size());
  };
  pre_tokenizer_.spans_by_stage(Utf8(text, size, pre_tokenizer_.classes()), kernels(),
                                encode_one);
}

} // namespace pretok
