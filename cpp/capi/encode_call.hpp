// EncodeCall holds the encode options of a call, and encodes texts with these options.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "core/base/id_buffer.hpp"
#include "core/cache/pre_token_cache.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

struct EncodeCall {
  const pretok_tokenizer *tokenizer = nullptr;
  const AddedTokenPhases *policy = nullptr;
  bool add_special_tokens = false;

  // Reads and checks the options of a caller, which may be nullptr.
  pretok_status read(const pretok_tokenizer &used_tokenizer,
                     const pretok_encode_options *options, pretok_error *error);

  // template_size returns the number of ids of the template. `begin` and `end` append the ids
  // of the template before and after the text. Unless the options ask for the template,
  // template_size returns 0, and `begin` and `end` do nothing.
  std::size_t template_size() const {
    return add_special_tokens ? tokenizer->pipeline->ids_around().size() : 0;
  }
  void begin(IdBuffer &ids) const {
    if (add_special_tokens)
      tokenizer->pipeline->begin(ids);
  }
  void end(IdBuffer &ids) const {
    if (add_special_tokens)
      tokenizer->pipeline->end(ids);
  }

  // Fails if `text` has a byte for which the vocabulary has no token. `position` is the offset
  // of `text` in the whole text.
  pretok_status check_bytes(const std::uint8_t *text, std::size_t size, std::size_t position,
                            pretok_error *error) const;

  // Appends the ids of `text`, without the template. `position` is the offset of `text` in the
  // whole text.
  pretok_status encode(const std::uint8_t *text, std::size_t size, std::size_t position,
                       PreTokenCache &cache, IdBuffer &ids, pretok_error *error) const;

  // Adds to `result` the number of ids that `encode` would append.
  pretok_status count(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                      std::size_t &result, pretok_error *error) const;

  // Writes the error of a refused special token, if there is one.
  pretok_status refuse(const Refusal &refusal, std::size_t position, pretok_error *error) const;
};

} // namespace pretok
