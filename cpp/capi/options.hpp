// Reads the option structs of callers, which may be compiled with an older or newer header.
#pragma once

#include "capi/status.hpp"

#include <cstddef>
#include <cstring>

namespace pretok {

// Copies `caller_options` to `own`. All bytes of `own` must be zero before the call, and stay
// zero if `caller_options` is NULL. If the caller's header is older and has fewer members, the
// other members stay zero. If the caller's header is newer, fails if a member that `own` does
// not have is not zero.
template <typename Options>
pretok_status read_options(const Options *caller_options, Options &own,
                           pretok_error *error) noexcept {
  if (caller_options == nullptr)
    return PRETOK_OK;
  std::size_t size;
  std::memcpy(&size, caller_options, sizeof size);
  if (size < sizeof size)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.struct_size is %zu; set it to the size of the struct", size);
  const auto *bytes = reinterpret_cast<const unsigned char *>(caller_options);
  for (std::size_t at = sizeof own; at < size; ++at)
    if (bytes[at] != 0)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "the options use a member that this version of the library does not have; "
                  "set it to 0, or use the library that comes with the header");
  std::memcpy(static_cast<void *>(&own), caller_options, size < sizeof own ? size : sizeof own);
  return PRETOK_OK;
}

// Copies `own` to a struct of the caller, which may be compiled with an older header that has
// fewer members. A member that a newer header has stays as it is.
template <typename Struct>
pretok_status write_result(const Struct &own, Struct &result, pretok_error *error) noexcept {
  if (own.struct_size < sizeof own.struct_size)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "struct_size is %zu; set it to the size of the struct", own.struct_size);
  std::memcpy(static_cast<void *>(&result), &own,
              own.struct_size < sizeof own ? own.struct_size : sizeof own);
  return PRETOK_OK;
}

} // namespace pretok
