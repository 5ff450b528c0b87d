// Stores the UTF-8 of many short texts, one after the other.
#pragma once

#include "core/utf/write_utf8.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace pretok {

// Utf8Texts frees the UTF-8 in its destructor. PyUnicode_AsUTF8 would keep it in memory until
// Python frees the str. Texts that are added one after the other are mostly adjacent in memory.
class Utf8Texts {
public:
  // Returns the UTF-8 of `text`, which is valid until the destructor runs. Returns std::nullopt
  // if `text` is not a str, or has a surrogate.
  std::optional<std::string_view> add(PyObject *text) {
    if (!PyUnicode_Check(text))
      return std::nullopt;
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(text) != 0)
      throw pybind11::error_already_set();
#endif
    const void *units = PyUnicode_DATA(text);
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(text));
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
      return write(static_cast<const std::uint8_t *>(units), size);
    case PyUnicode_2BYTE_KIND:
      return write(static_cast<const std::uint16_t *>(units), size);
    default:
      return write(static_cast<const std::uint32_t *>(units), size);
    }
  }

private:
  static constexpr std::size_t BLOCK = std::size_t{1} << 18; // the minimum size in bytes

  template <typename Unit>
  std::optional<std::string_view> write(const Unit *units, std::size_t size) {
    if constexpr (sizeof(Unit) != 1)
      if (has_surrogate(units, size))
        return std::nullopt;
    const std::size_t max_bytes = size * MAX_UTF8<Unit>;
    if (max_bytes > left_) {
      left_ = std::max(BLOCK, max_bytes);
      blocks_.emplace_back(new std::uint8_t[left_]);
      at_ = blocks_.back().get();
    }
    const std::uint8_t *const start = at_;
    at_ = write_utf8(units, size, at_);
    const auto written = static_cast<std::size_t>(at_ - start);
    left_ -= written;
    return std::string_view(reinterpret_cast<const char *>(start), written);
  }

  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::uint8_t *at_ = nullptr;
  std::size_t left_ = 0; // free bytes of the last block
};

} // namespace pretok
