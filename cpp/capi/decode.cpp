// pretok_decode.
#include "capi/check_ids.hpp"

#include <cstring>
#include <string>

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
    const auto write = [&](const void *text, std::size_t text_size) {
      const pretok_status status = room_for(text_size, bytes, capacity, size, error);
      if (status == PRETOK_OK && bytes != nullptr && text_size != 0)
        std::memcpy(bytes, text, text_size);
      return status;
    };
    if (const JoinRules *rules = decoder.join_rules()) {
      JoinedTexts joined(*rules, skip_special);
      if (joined.join(id_count, [ids](std::size_t i) { return ids[i]; }))
        return write(joined.data(), joined.size());
    }
    const std::string text = decoder.decode(ids, id_count, skip_special, true);
    return write(text.data(), text.size());
  });
}
