// What every function of the C interface does around its work: no exception leaves, and what is
// wrong is said.
#pragma once

#include "capi/pretok.h"

#include <cstddef>
#include <initializer_list>

namespace pretok {

// Puts `status`, `position` and the message, as printf makes it, where `error` says, if
// anywhere; returns `status`. What is not UTF-8 in the message becomes '?'.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
pretok_status fail_at(pretok_error *error, pretok_status status, std::size_t position,
                      const char *format, ...) noexcept;

template <typename... Values>
pretok_status fail(pretok_error *error, pretok_status status, const char *format,
                   Values... values) noexcept {
  if constexpr (sizeof...(Values) == 0)
    return fail_at(error, status, 0, "%s", format);
  else
    return fail_at(error, status, 0, format, values...);
}

inline pretok_status missing(pretok_error *error, const char *argument) noexcept {
  return fail(error, PRETOK_INVALID_ARGUMENT, "%s is NULL; expected a pointer", argument);
}

// What a caller gave as an argument that must not be NULL, at least where it is `needed`.
struct Given {
  const void *value;
  const char *name;
  bool needed = true;
};

// Says which of `arguments` is NULL, if any is.
inline pretok_status check(pretok_error *error,
                           std::initializer_list<Given> arguments) noexcept {
  for (const Given &given : arguments)
    if (given.value == nullptr && given.needed)
      return missing(error, given.name);
  return PRETOK_OK;
}

// Says which exception a handler has caught: PRETOK_OUT_OF_MEMORY if there is not enough memory
// or an array would be larger than any can be, else PRETOK_INTERNAL. The core throws nothing
// else.
pretok_status fail_unforeseen(pretok_error *error) noexcept;

// Returns what `work` does. No exception leaves.
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

// Sets *count to `needed`, and says whether there is room for so many behind `buffer`; a NULL
// buffer only asks.
template <typename T>
pretok_status room_for(std::size_t needed, const T *buffer, std::size_t capacity,
                       std::size_t *count, pretok_error *error) noexcept {
  *count = needed;
  if (buffer == nullptr || needed <= capacity)
    return PRETOK_OK;
  return fail(error, PRETOK_TOO_SMALL, "the buffer has room for %zu; %zu are needed", capacity,
              needed);
}

} // namespace pretok
