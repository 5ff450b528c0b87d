// Decodes ids to bytes.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "core/base/sizes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Calls emit(text) with the text of each id that is not skipped, in order. Strips the spaces at
// the start of the first texts, if the model asks for it. The caller has checked that each id
// has a token (check_ids).
template <typename Emit>
void for_texts(const pretok_tokenizer &tokenizer, const std::uint32_t *ids, std::size_t count,
               bool skip_special, Emit emit) {
  const auto is_skipped = [&](std::uint32_t id) {
    return skip_special && tokenizer.is_special(id);
  };
  if (!tokenizer.texts) {
    for (std::size_t i = 0; i < count; ++i)
      if (!is_skipped(ids[i]))
        emit(tokenizer.vocabulary.token(ids[i]));
    return;
  }
  StartStripper start(tokenizer.texts->decoding());
  for (std::size_t i = 0; i < count; ++i)
    if (!is_skipped(ids[i])) {
      const TextTokens::Token &token = tokenizer.texts->token(ids[i]);
      emit(start.strip(token.kind, token.text));
    }
}

// Fails at the first id without a token.
inline pretok_status check_ids(const pretok_tokenizer &tokenizer, const std::uint32_t *ids,
                               std::size_t count, pretok_error *error) {
  for (std::size_t i = 0; i < count; ++i)
    if (tokenizer.token(ids[i]).bytes == nullptr)
      return fail_at(error, PRETOK_UNKNOWN_ID, i,
                     "no token has id %lu, at index %zu; ids are below %zu",
                     static_cast<unsigned long>(ids[i]), i, tokenizer.id_limit);
  return PRETOK_OK;
}

// Sets `size` to the number of bytes that write_ids writes. Fails at the first id without a
// token.
inline pretok_status measure_ids(const pretok_tokenizer &tokenizer, const std::uint32_t *ids,
                                 std::size_t count, bool skip_special, std::size_t &size,
                                 pretok_error *error) {
  if (const pretok_status status = check_ids(tokenizer, ids, count, error))
    return status;
  size = 0;
  bool fits = true;
  for_texts(tokenizer, ids, count, skip_special, [&](TokenView text) {
    fits = fits && text.size <= MAX_VALUES<char> - size;
    size += text.size;
  });
  return fits ? PRETOK_OK
              : fail(error, PRETOK_OUT_OF_MEMORY, "the text is larger than any buffer");
}

// Decodes `count` ids to `to`. Omits special tokens if `skip_special`. The caller has called
// measure_ids with these ids, and `to` has room for the `size` that it returned.
inline void write_ids(const pretok_tokenizer &tokenizer, const std::uint32_t *ids,
                      std::size_t count, bool skip_special, char *to) {
  for_texts(tokenizer, ids, count, skip_special, [&](TokenView text) {
    std::memcpy(to, text.bytes, text.size);
    to += text.size;
  });
}

} // namespace pretok
