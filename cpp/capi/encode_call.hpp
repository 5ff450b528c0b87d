// What a call with encode options asks for, and encoding as it asks.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "core/base/id_buffer.hpp"
#include "core/cache/pre_token_cache.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Beyond one id a byte, what encoding writes behind the ids.
inline constexpr std::size_t ID_PADDING = ShortCache::PADDING;

struct EncodeCall {
  const pretok_tokenizer *tokenizer = nullptr;
  const Policy *policy = nullptr;
  bool add_special_tokens = false;

  // Reads the options of a caller, which may be nullptr.
  pretok_status read(const pretok_tokenizer &of, const pretok_encode_options *options,
                     pretok_error *error);

  // How many ids the template adds.
  std::size_t added_count() const {
    return add_special_tokens ? tokenizer->before.size() + tokenizer->after.size() : 0;
  }

  // Says if a byte of `text`, which is from `position` on, has no token.
  pretok_status check_bytes(const std::uint8_t *text, std::size_t size, std::size_t position,
                            pretok_error *error) const;

  // Appends the ids of a text, without those that the template adds. `position` is where it
  // is in the whole text.
  pretok_status encode(const std::uint8_t *text, std::size_t size, std::size_t position,
                       PreTokenCache &cache, IdBuffer &ids, pretok_error *error) const;

  // How many those are.
  pretok_status count(const std::uint8_t *text, std::size_t size, PreTokenCache &cache,
                      std::size_t &result, pretok_error *error) const;

private:
  // Calls token() for each added token that is found in text as it is, and text(data, size),
  // which returns a Refusal, for each normalized text between them. For text that is not normal
  // only.
  template <typename Token, typename Text>
  Refusal in_parts(const std::uint8_t *data, std::size_t size, Token token, Text text) const;
  pretok_status refuse(const Refusal &refusal, std::size_t position, pretok_error *error) const;
};

inline void append_ids(IdBuffer &ids, const std::vector<std::uint32_t> &more) {
  if (more.empty())
    return;
  std::copy(more.begin(), more.end(), ids.room(more.size()));
  ids.add(more.size());
}

} // namespace pretok
