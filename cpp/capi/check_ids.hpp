// Checks and decodes ids.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "core/decode/joined_texts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

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

// Returns use(data, size) with the text of ids.
template <typename Use>
auto with_decoded(const Decoder &decoder, const std::uint32_t *ids, std::size_t count,
                  bool skip_special, Use use) {
  if (const JoinRules *rules = decoder.join_rules()) {
    JoinedTexts joined(*rules, skip_special);
    if (joined.join(count, [ids](std::size_t i) { return ids[i]; }))
      return use(reinterpret_cast<const char *>(joined.data()), joined.size());
  }
  const std::string text = decoder.decode(ids, count, skip_special, true);
  return use(text.data(), text.size());
}

} // namespace pretok
