// Error handling of every C API function: argument checks, messages, and catching exceptions.
#pragma once

#include "capi/pretok.h"
#include "core/base/sizes.hpp"
#include "formats/load_error.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>

namespace pretok {

// Writes `status`, `position` and a printf message to `error`, if `error` is not nullptr.
// Replaces invalid UTF-8 in the message by '?'. Returns `status`.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
pretok_status fail_at(pretok_error *error, pretok_status status, std::size_t position,
                      const char *format, ...) noexcept;

// Like fail_at, with position 0.
template <typename... Values>
pretok_status fail(pretok_error *error, pretok_status status, const char *format,
                   Values... values) noexcept {
  if constexpr (sizeof...(Values) == 0)
    return fail_at(error, status, 0, "%s", format);
  else
    return fail_at(error, status, 0, format, values...);
}

// Writes the error for an argument that is NULL.
inline pretok_status missing(pretok_error *error, const char *argument) noexcept {
  return fail(error, PRETOK_INVALID_ARGUMENT, "%s is NULL; expected a pointer", argument);
}

// Writes `load_error`, which is not NONE. `name` comes before the message; it may be "".
pretok_status fail_to_load(const LoadError &load_error, const std::string &name,
                           pretok_error *error);

// A pointer argument and its name. The pointer must not be NULL if `needed` is true.
struct Argument {
  const void *value;
  const char *name;
  bool needed = true;
};

// Fails with the name of the first needed argument that is NULL.
inline pretok_status check(pretok_error *error,
                           std::initializer_list<Argument> arguments) noexcept {
  for (const Argument &argument : arguments)
    if (argument.value == nullptr && argument.needed)
      return missing(error, argument.name);
  return PRETOK_OK;
}

// Converts the current exception to a status. The core throws only std::bad_alloc and
// std::length_error, which become PRETOK_OUT_OF_MEMORY. Any other exception becomes
// PRETOK_INTERNAL.
pretok_status fail_unforeseen(pretok_error *error) noexcept;

// Returns work(). Converts an exception to a status.
template <typename Work> pretok_status guarded(pretok_error *error, Work work) noexcept {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  try {
    return work();
  } catch (...) {
    return fail_unforeseen(error);
  }
#else
  static_cast<void>(error);
  return work();
#endif
}

// The same, if check(error, arguments) succeeds.
template <typename Work>
pretok_status guarded(pretok_error *error, std::initializer_list<Argument> arguments,
                      Work work) noexcept {
  if (const pretok_status status = check(error, arguments))
    return status;
  return guarded(error, work);
}

// Sets *count to `needed`. Fails if `buffer` has room for fewer than `needed` elements. Fails
// for a NULL buffer only if the size of `needed` elements in bytes would overflow.
template <typename T>
pretok_status room_for(std::size_t needed, const T *buffer, std::size_t capacity,
                       std::size_t *count, pretok_error *error) noexcept {
  if (needed > MAX_ELEMENTS<T>)
    return fail(error, PRETOK_OUT_OF_MEMORY, "the result is larger than any buffer");
  *count = needed;
  if (buffer == nullptr || needed <= capacity)
    return PRETOK_OK;
  return fail(error, PRETOK_TOO_SMALL,
              "the buffer has room for %zu elements; expected %zu or more", capacity, needed);
}

} // namespace pretok
