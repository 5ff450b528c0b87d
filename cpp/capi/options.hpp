// Options of callers, who may have an older header or a newer one.
#pragma once

#include "capi/status.hpp"

#include <cstddef>
#include <cstring>

namespace pretok {

// Copies `given`, if it is not NULL, to `own`, which is all 0: what an older header does not
// have stays so, and what a newer one has must be.
template <typename Options>
pretok_status read_options(const Options *given, Options &own, pretok_error *error) noexcept {
  if (given == nullptr)
    return PRETOK_OK;
  std::size_t size;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.struct_size is %zu; set it to the size of the struct", size);
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (std::size_t at = sizeof own; at < size; ++at)
    if (bytes[at] != 0)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "the options have something that this version of the library does not know; "
                  "set it to 0, or use the library that comes with the header");
  std::memcpy(static_cast<void *>(&own), given, size < sizeof own ? size : sizeof own);
  return PRETOK_OK;
}

} // namespace pretok
