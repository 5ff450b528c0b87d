// Checks ids to decode.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Fails at the first id without a token.
inline pretok_status check_ids(const pretok_tokenizer &tokenizer, const std::uint32_t *ids,
                               std::size_t count, pretok_error *error) {
  for (std::size_t i = 0; i < count; ++i)
    if (tokenizer.core->decoder().token(ids[i]).bytes == nullptr)
      return fail_at(error, PRETOK_UNKNOWN_ID, i,
                     "no token has id %lu, at index %zu; ids are below %zu",
                     static_cast<unsigned long>(ids[i]), i, tokenizer.core->id_limit());
  return PRETOK_OK;
}

} // namespace pretok
