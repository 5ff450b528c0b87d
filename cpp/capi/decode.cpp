// pretok_decode.
#include "capi/check_ids.hpp"
#include "core/base/sizes.hpp"

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
    std::string changed; // the text that a chain of decoders makes
    if (decoder.chain())
      changed = decoder.chain()->decode(ids, id_count, skip_special);
    // Decode twice, to measure the text and to write it.
    const auto for_texts = [&](auto emit) {
      if (decoder.chain())
        emit(changed.data(), changed.size());
      else
        decoder.for_texts(ids, id_count, skip_special,
                          [&](TokenView text) { emit(text.bytes, text.size); });
    };
    std::size_t needed = 0;
    bool fits = true;
    for_texts([&](const void *, std::size_t more) {
      fits = fits && more <= MAX_VALUES<char> - needed;
      needed += more;
    });
    if (!fits)
      return fail(error, PRETOK_OUT_OF_MEMORY, "the text is larger than any buffer");
    const pretok_status status = room_for(needed, bytes, capacity, size, error);
    if (status == PRETOK_OK && bytes != nullptr)
      for_texts([&, to = bytes](const void *text, std::size_t more) mutable {
        if (more != 0)
          std::memcpy(to, text, more);
        to += more;
      });
    return status;
  });
}
