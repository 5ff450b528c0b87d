// pretok_decode.
#include "capi/check_ids.hpp"

#include <cstring>

using namespace pretok;

pretok_status pretok_decode(const pretok_tokenizer *tokenizer, const uint32_t *ids,
                            size_t id_count, bool skip_special, char *bytes, size_t capacity,
                            size_t *size, pretok_error *error) noexcept {
  if (const pretok_status status = check(
          error, {{tokenizer, "the tokenizer"}, {ids, "ids", id_count != 0}, {size, "size"}}))
    return status;
  return guarded(error, [&] {
    if (const pretok_status status = check_ids(*tokenizer, ids, id_count, error))
      return status;
    const Decoder &decoder = tokenizer->core->decoder();
    return with_decoded(
        decoder, ids, id_count, skip_special, [&](const char *text, std::size_t text_size) {
          const pretok_status status = room_for(text_size, bytes, capacity, size, error);
          if (status == PRETOK_OK && bytes != nullptr && text_size != 0)
            std::memcpy(bytes, text, text_size);
          return status;
        });
  });
}
