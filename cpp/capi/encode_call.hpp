// EncodeCall holds the encode options of a call, and encodes texts with these options.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "core/base/id_buffer.hpp"
#include "core/cache/pre_token_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pretok {

// If there are no ids, callers get a pointer to this constant instead of NULL, because memcpy
// must not get NULL, even for 0 bytes.
inline constexpr std::uint32_t NO_IDS = 0;

struct EncodeCall {
  const Tokenizer *tokenizer = nullptr;
  const AddedTokenPhases *policy = nullptr;
  std::string_view policy_key; // equal only for equal policies
  bool add_special_tokens = false;
  Encoder::Part first_part = Encoder::Part::FIRST; // of a text
  const Tokenizer *dropout_tokenizer = nullptr;    // encodes with dropout, unless it is nullptr
  DropoutOptions dropout{};

  // Sets all members from the options of a caller. `options` may be nullptr. Fails if an option
  // is invalid, or if the options have dropout, and not `takes_dropout`.
  pretok_status read(const pretok_tokenizer &used_tokenizer,
                     const pretok_encode_options *options, pretok_error *error,
                     bool takes_dropout = false);

  // The template has ids that come before and after the ids of a text. `begin` appends the ids
  // before the text, and `end` appends those after it. template_size returns the number of all
  // these ids. If add_special_tokens is false, `begin` and `end` do nothing, and template_size
  // returns 0.
  std::size_t template_size() const {
    return add_special_tokens ? tokenizer->ids_around().size() : 0;
  }
  void begin(IdBuffer &ids) const {
    if (add_special_tokens)
      tokenizer->begin(ids);
  }
  void end(IdBuffer &ids) const {
    if (add_special_tokens)
      tokenizer->end(ids);
  }

  // Fails if `text` has a byte for which the vocabulary has no token. `position` is the offset
  // of `text` in the whole text.
  pretok_status check_bytes(const std::uint8_t *text, std::size_t size, std::size_t position,
                            pretok_error *error) const;

  // Appends the ids of `text`, without the template. `position` is the offset of `text` in the
  // whole text. If it is not 0, `text` must begin at a safe cut (a position where a cut does
  // not change the ids) that find_cut found, and there must be no dropout.
  pretok_status encode(const std::uint8_t *text, std::size_t size, std::size_t position,
                       PreTokenCache &cache, IdBuffer &ids, pretok_error *error) const;

  // Adds to `result` the number of ids that `encode` would append.
  pretok_status count(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                      std::size_t &result, pretok_error *error) const;

  // Returns PRETOK_OK if `refusal` has no token. Otherwise writes the error for the special
  // token. `position` is the offset of the encoded text in the whole text.
  pretok_status refuse(const Refusal &refusal, std::size_t position, pretok_error *error) const;
};

// Returns a buffer in the array `ids` of a caller if it has room for `bound` ids, else a buffer
// with memory of its own. No array has room for MAX_ELEMENTS ids.
inline IdBuffer buffer_in(std::uint32_t *ids, std::size_t capacity, std::size_t bound) {
  return ids != nullptr && capacity >= bound && bound < MAX_ELEMENTS<std::uint32_t>
             ? IdBuffer(ids, capacity)
             : IdBuffer();
}

// Writes the ids to the array `ids` of a caller, unless they are there, and sets *count, as
// room_for does. `ids` may be NULL.
inline pretok_status return_ids(const IdBuffer &made, std::uint32_t *ids, std::size_t capacity,
                                std::size_t *count, pretok_error *error) {
  const pretok_status status = room_for(made.size(), ids, capacity, count, error);
  if (status == PRETOK_OK && ids != nullptr && made.data() != ids && made.size() != 0)
    std::memcpy(ids, made.data(), made.size() * sizeof *ids);
  return status;
}

} // namespace pretok
