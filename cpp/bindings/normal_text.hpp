// Checks whether Python texts are in NFC.
#pragma once

#include "bindings/convert.hpp"

#include "core/unicode/nfc.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

// Returns whether a text is in NFC. Does not need the GIL.
inline bool is_normal(const TextView &text) {
  Scratch scratch;
  return text.is_below_100() || text.is_surely_nfc() || text.with_utf8(scratch, is_nfc);
}

// Returns the UTF-8 `data` in NFC.
inline py::bytes normalized(const py::bytes &data) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()));
  std::vector<std::uint8_t> normal;
  unlocked(size, [&] {
    normal.reserve(size);
    to_nfc(first, size, normal);
  });
  return py::bytes(reinterpret_cast<const char *>(normal.data()), normal.size());
}

} // namespace pretok
