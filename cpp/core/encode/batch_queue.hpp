// Gathers the pre-tokens of all parts of a text, and the added tokens between these parts, into
// full batches. A text may have an added token on each line. A batch for each line would be
// small, so its look-ups would mostly wait for memory.
#pragma once

#include "core/base/id_buffer.hpp"
#include "core/base/instruction_set.hpp"
#include "core/cache/look_up.hpp"
#include "core/encode/batch_encoder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pretok {

class BatchQueue {
public:
  using OnBatch = std::function<void()>;

  // Appends the ids of all batches to `ids`. Calls on_batch() after each batch, unless
  // `on_batch` is empty. All arguments must outlive this object.
  BatchQueue(const BatchEncoder &encoder, InstructionSet instructions, const std::uint8_t *text,
             std::size_t size, PreTokenCache &cache, IdBuffer &ids, const OnBatch &on_batch)
      : encoder_(encoder), instructions_(instructions), cache_(cache), ids_(ids),
        on_batch_(on_batch), batch_{text, text + size, 0, ends_.data(), 0, added_.data(), 0} {}

  // Adds the next `count` pre-tokens. `start` is the byte offset in the text of the first one,
  // and the end of the last item added. `ends` are in bytes from `start`.
  void add(std::size_t start, const std::size_t *ends, std::size_t count) {
    while (count != 0) {
      const std::size_t taken = std::min(count, PreTokenBatch::MAX_COUNT - batch_.count);
      for (std::size_t i = 0; i < taken; ++i)
        ends_[batch_.count + i] = start + ends[i];
      batch_.count += taken;
      ends += taken;
      count -= taken;
      flush_if_full();
    }
  }

  // Adds one of the added tokens of the text; or dropped text, if `id` is NO_ID. A batch stores
  // only the end of each item, so each item must begin at the end of the previous one. An added
  // token may begin earlier, within white space that the previous added token includes
  // (AddedToken::rstrip). Then the added token begins a new batch. A token without bytes
  // (AddedTokens::TextRange) is in no batch, since batches read the bytes of their items.
  void add_token(std::uint32_t id, std::size_t start, std::size_t end) {
    if (start == end)
      return add_id(id, start);
    if (start != (batch_.count == 0 ? batch_.start : ends_[batch_.count - 1])) {
      flush();
      skip_to(start);
    }
    added_[batch_.added_count++] = {id, static_cast<std::uint8_t>(batch_.count)};
    ends_[batch_.count++] = end;
    flush_if_full();
  }

  // Encodes the pre-tokens and added tokens in the queue, and empties it.
  void flush() {
    if (batch_.count == 0)
      return;
    encoder_.encode(instructions_, batch_, cache_, ids_);
    skip_to(ends_[batch_.count - 1]);
    if (on_batch_ != nullptr)
      on_batch_();
  }

  // Sets the start of the next item to byte `at` of the text. Call `flush` first: skip_to drops
  // all items in the queue.
  void skip_to(std::size_t at) {
    batch_.start = at;
    batch_.count = batch_.added_count = 0;
  }

private:
  // Encodes all items, and appends an id that stands between two bytes of the text.
  void add_id(std::uint32_t id, std::size_t at) {
    flush();
    ids_.append(id);
    if (on_batch_ != nullptr)
      on_batch_();
    skip_to(at);
  }

  void flush_if_full() {
    if (batch_.count == PreTokenBatch::MAX_COUNT)
      flush();
  }

  const BatchEncoder &encoder_;
  const InstructionSet instructions_;
  PreTokenCache &cache_;
  IdBuffer &ids_;
  const OnBatch &on_batch_;
  std::array<std::size_t, PreTokenBatch::MAX_COUNT> ends_;           // not initialized
  std::array<PreTokenBatch::Added, PreTokenBatch::MAX_COUNT> added_; // not initialized
  PreTokenBatch batch_;
};

} // namespace pretok
