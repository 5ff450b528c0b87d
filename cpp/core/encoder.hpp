// Text to ids in one pass: added tokens, pre-tokens, merges.
#pragma once

#include "added.hpp"
#include "machine.hpp"
#include "splitter.hpp"
#include "vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Immutable; to be shared between threads. What it is made of must outlive it.
class Encoder {
public:
  Encoder(const Machine &machine, const Vocabulary &vocabulary, bool add_prefix_space)
      : machine_(machine), vocabulary_(vocabulary), add_prefix_space_(add_prefix_space) {}

  // Calls emit(id) for each token of `size` bytes of UTF-8, or anything.
  template <typename Emit>
  Refusal encode(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                 Emit &&emit) const {
    return added.split(data, size, [&](const Segment &segment) {
      if (segment.token != nullptr)
        emit(segment.token->id);
      else
        encode_text(data + segment.start, segment.end - segment.start, emit);
    });
  }

  // Calls emit(id, start, end) with the bytes that each token comes from.
  template <typename Emit>
  Refusal encode_spans(const std::uint8_t *data, std::size_t size, const AddedTokens &added,
                       Emit &&emit) const {
    return added.split(data, size, [&](const Segment &segment) {
      if (segment.token != nullptr)
        return emit(segment.token->id, segment.start, segment.end);
      const std::uint8_t *text = data + segment.start;
      // A space that was put before the text is in no span.
      std::size_t ahead = prefixed(text) ? 1 : 0;
      std::size_t at = segment.start;
      encode_text(text, segment.end - segment.start, [&](std::uint32_t id) {
        const std::size_t start = at;
        at += vocabulary_.token(id).size - ahead;
        ahead = 0;
        emit(id, start, at);
      });
    });
  }

private:
  bool prefixed(const std::uint8_t *text) const { return add_prefix_space_ && *text != ' '; }

  // There is at least one byte.
  template <typename Emit>
  void encode_text(const std::uint8_t *text, std::size_t size, Emit &&emit) const {
    if (!prefixed(text))
      return encode_whole(text, size, emit);
    std::vector<std::uint8_t> with_space;
    with_space.reserve(size + 1);
    with_space.push_back(' ');
    with_space.insert(with_space.end(), text, text + size);
    encode_whole(with_space.data(), with_space.size(), emit);
  }

  template <typename Emit>
  void encode_whole(const std::uint8_t *text, std::size_t size, Emit &emit) const {
    std::size_t start = 0;
    split(machine_, Utf8(text, size, machine_.classes()), [&](std::size_t end) {
      vocabulary_.encode(text + start, end - start, text + size, emit);
      start = end;
    });
  }

  const Machine &machine_;
  const Vocabulary &vocabulary_;
  bool add_prefix_space_;
};

} // namespace pretok
