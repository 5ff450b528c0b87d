#include "capi/decode_ids.hpp"

using namespace pretok;

pretok_status pretok_decode(const pretok_tokenizer *tokenizer, const uint32_t *ids,
                            size_t id_count, bool skip_special, char *bytes, size_t capacity,
                            size_t *size, pretok_error *error) noexcept {
  if (const pretok_status status = check(
          error, {{tokenizer, "the tokenizer"}, {ids, "ids", id_count != 0}, {size, "size"}}))
    return status;
  if (tokenizer->decoder)
    return guarded(error, [&] {
      if (const pretok_status status = check_ids(*tokenizer, ids, id_count, error))
        return status;
      const std::string text = tokenizer->decoder->decode(ids, id_count, skip_special);
      const pretok_status status = room_for(text.size(), bytes, capacity, size, error);
      if (status == PRETOK_OK && bytes != nullptr)
        std::memcpy(bytes, text.data(), text.size());
      return status;
    });
  std::size_t needed = 0;
  if (const pretok_status status =
          measure_ids(*tokenizer, ids, id_count, skip_special, needed, error))
    return status;
  const pretok_status status = room_for(needed, bytes, capacity, size, error);
  if (status == PRETOK_OK && bytes != nullptr)
    write_ids(*tokenizer, ids, id_count, skip_special, bytes);
  return status;
}
