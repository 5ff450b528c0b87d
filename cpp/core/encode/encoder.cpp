#include "core/encode/encoder.hpp"

#include "core/encode/batch_queue.hpp"
#include "core/simd/kernels.hpp"

#include <algorithm>
#include <functional>

namespace pretok {

Refusal Encoder::encode(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                        PreTokenCache &cache, IdBuffer &ids) const {
  return encode_parts(data, size, added, cache, ids, nullptr);
}

Refusal Encoder::count(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                       PreTokenCache &cache, std::size_t &result) const {
  IdBuffer ids;
  return encode_parts(data, size, added, cache, ids, [&] {
    result += ids.size();
    ids.clear();
  });
}

Refusal Encoder::encode_parts(const std::uint8_t *data, std::size_t size,
                              const AddedTokens &added, PreTokenCache &cache, IdBuffer &ids,
                              const OnBatch &on_batch) const {
  BatchQueue queue(batch_encoder_, kernels().instruction_set, data, size, cache, ids, on_batch);
  const Refusal refusal = added.split(data, size, [&](const Segment &segment) {
    const std::uint8_t *const part = data + segment.start;
    const std::size_t part_size = segment.end - segment.start;
    if (segment.token != nullptr) {
      queue.add_token(segment.token->id, segment.start, segment.end);
    } else if (part_size == size || prefixed(part)) {
      queue.flush();
      encode_text(part, part_size, cache, ids, on_batch);
      queue.skip_to(segment.end);
    } else {
      split(pre_tokenizer_, Utf8(part, part_size, pre_tokenizer_.classes()),
            [&](const std::size_t *ends, std::size_t count) {
              queue.add(segment.start, ends, count);
            });
    }
  });
  queue.flush();
  return refusal;
}

Refusal Encoder::encode_spans(const std::uint8_t *data, std::size_t size,
                              const AddedTokens &added, PreTokenCache &cache, IdBuffer &ids,
                              std::vector<std::int64_t> &starts,
                              std::vector<std::int64_t> &ends) const {
  return added.split(data, size, [&](const Segment &segment) {
    if (segment.token != nullptr) {
      *ids.room(1) = segment.token->id;
      ids.add(1);
      starts.push_back(static_cast<std::int64_t>(segment.start));
      ends.push_back(static_cast<std::int64_t>(segment.end));
      return;
    }
    const std::uint8_t *text = data + segment.start;
    // The prefix space belongs to no span.
    std::int64_t prefix_size = prefixed(text) ? 1 : 0;
    auto at = static_cast<std::int64_t>(segment.start);
    std::size_t done = ids.size();
    const auto add_spans = [&] {
      for (; done < ids.size(); ++done) {
        starts.push_back(at);
        at += vocabulary_.token(ids.data()[done]).size - prefix_size;
        prefix_size = 0;
        ends.push_back(at);
      }
    };
    encode_text(text, segment.end - segment.start, cache, ids, std::ref(add_spans));
  });
}

void Encoder::encode_text(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                          IdBuffer &ids, const OnBatch &on_batch) const {
  if (!prefixed(text))
    return split_and_encode(text, size, cache, ids, on_batch);
  std::vector<std::uint8_t> with_space;
  with_space.reserve(size + 1);
  with_space.push_back(' ');
  with_space.insert(with_space.end(), text, text + size);
  split_and_encode(with_space.data(), with_space.size(), cache, ids, on_batch);
}

void Encoder::split_and_encode(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                               IdBuffer &ids, const OnBatch &on_batch) const {
  const InstructionSet instructions = kernels().instruction_set;
  std::size_t start = 0;
  split(pre_tokenizer_, Utf8(text, size, pre_tokenizer_.classes()),
        [&](const std::size_t *ends, std::size_t count) {
          for (std::size_t done = 0; done < count;) {
            const std::size_t taken = std::min(count - done, PreTokenBatch::MAX_COUNT);
            batch_encoder_.encode(instructions,
                                  {text, text + size, start, ends + done, taken, nullptr, 0},
                                  cache, ids);
            done += taken;
            start = ends[done - 1];
            if (on_batch != nullptr)
              on_batch();
          }
        });
}

} // namespace pretok
