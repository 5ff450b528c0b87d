// Decodes ids to bytes.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "core/base/sizes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Sets `size` to the number of bytes of all ids. Fails at the first id without a token.
inline pretok_status measure_ids(const pretok_tokenizer &tokenizer, const std::uint32_t *ids,
                                 std::size_t count, bool skip_special, std::size_t &size,
                                 pretok_error *error) {
  size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const TokenView token = tokenizer.vocabulary.token(ids[i]);
    if (token.bytes == nullptr)
      return fail_at(error, PRETOK_UNKNOWN_ID, i,
                     "no token has id %lu, at index %zu; ids are below %zu",
                     static_cast<unsigned long>(ids[i]), i, tokenizer.id_limit);
    if (skip_special && tokenizer.is_special(ids[i]))
      continue;
    if (token.size > MAX_VALUES<char> - size)
      return fail(error, PRETOK_OUT_OF_MEMORY, "the text is larger than any buffer");
    size += token.size;
  }
  return PRETOK_OK;
}

// Writes the bytes of all ids.
inline void write_ids(const pretok_tokenizer &tokenizer, const std::uint32_t *ids,
                      std::size_t count, bool skip_special, char *to) {
  for (std::size_t i = 0; i < count; ++i) {
    if (skip_special && tokenizer.is_special(ids[i]))
      continue;
    const TokenView token = tokenizer.vocabulary.token(ids[i]);
    std::memcpy(to, token.bytes, token.size);
    to += token.size;
  }
}

} // namespace pretok
