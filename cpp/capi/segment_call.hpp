// Reads the segments of a caller.
#pragma once

#include "capi/encode_call.hpp"

#include <cstring>

namespace pretok {

// Names segment `index` in the message of `error`, and sets *failed_segment.
inline pretok_status fail_segment(std::size_t index, pretok_status status,
                                  std::size_t *failed_segment, pretok_error *error) {
  if (failed_segment != nullptr)
    *failed_segment = index;
  if (error == nullptr)
    return status;
  const pretok_error inner = *error;
  return fail_at(error, status, inner.position, "segments[%zu]: %s", index, inner.message);
}

// Checks a segment, and reads its policy.
inline pretok_status read_segment(const pretok_tokenizer &tokenizer,
                                  const pretok_segment &given, EncodeCall &call,
                                  pretok_error *error) {
  if (const pretok_status status = check(error, {{given.text, "text", given.size != 0},
                                                 {given.ids, "ids", given.id_count != 0}}))
    return status;
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  std::memcpy(&options.special, &given.special, sizeof options.special);
  options.allowed = given.allowed;
  if (const pretok_status status = call.read(tokenizer, &options, error))
    return status;
  return call.check_bytes(reinterpret_cast<const std::uint8_t *>(given.text), given.size, 0,
                          error);
}

} // namespace pretok
