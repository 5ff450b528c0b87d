#include "capi/status.hpp"

#include "core/unicode/utf8.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

namespace pretok {
namespace {

// Replaces invalid UTF-8 and control characters in a message by '?'. A message has invalid
// UTF-8 if it quotes such bytes of a file, or if its end was cut off within a character.
void mend_message(char *message) {
  auto *bytes = reinterpret_cast<std::uint8_t *>(message);
  std::size_t left = std::strlen(message);
  while (left != 0) {
    const Decoded decoded = decode_utf8(bytes, left);
    if (decoded.width == 1 && (*bytes >= 0x80 || *bytes < 0x20))
      *bytes = '?';
    bytes += decoded.width;
    left -= decoded.width;
  }
}

} // namespace

pretok_status fail_at(pretok_error *error, pretok_status status, std::size_t position,
                      const char *format, ...) noexcept {
  if (error == nullptr)
    return status;
  error->status = status;
  error->position = position;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  mend_message(error->message);
  return status;
}

pretok_status fail_to_load(const LoadError &load_error, const std::string &name,
                           pretok_error *error) {
  const auto status = [&] {
    switch (load_error.kind) {
    case LoadError::NONE:
      return PRETOK_OK;
    case LoadError::MALFORMED:
      return PRETOK_MALFORMED;
    case LoadError::UNSUPPORTED:
      return PRETOK_UNSUPPORTED;
    case LoadError::REMOVES_TEXT:
      return PRETOK_REMOVES_TEXT;
    case LoadError::UNKNOWN_NAME:
      return PRETOK_UNKNOWN_NAME;
    case LoadError::NO_SPLIT:
    case LoadError::INVALID_ARGUMENT:
      break;
    }
    return PRETOK_INVALID_ARGUMENT;
  }();
  const char *const advice =
      load_error.kind == LoadError::NO_SPLIT
          ? "; set options.preset to the name of the split that the model was trained with, "
            "such as \"gpt2\", \"llama3\" or \"qwen2\""
          : "";
  return fail(error, status, "%s%s%s", name.c_str(), load_error.message.c_str(), advice);
}

pretok_status fail_unforeseen(pretok_error *error) noexcept {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return fail(error, PRETOK_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::length_error &) {
    return fail(error, PRETOK_OUT_OF_MEMORY, "the input is too large for one call; split it");
  } catch (const std::exception &unforeseen) {
    return fail(error, PRETOK_INTERNAL, "internal error: %.150s; please report it",
                unforeseen.what());
  } catch (...) {
  }
#endif
  return fail(error, PRETOK_INTERNAL, "internal error: unknown exception; please report it");
}

} // namespace pretok
