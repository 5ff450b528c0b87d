// Texts that JavaScript has copied to the memory of the module.
#pragma once

#include "core/split/sources.hpp"
#include "core/split/units.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pretok {

// A text in UTF-8. A string with lone surrogates has no UTF-8, and comes as 32-bit code points.
struct WasmText {
  const void *data;
  std::size_t size; // in code units
  bool is_utf8;
};

// Calls work(source) with a Utf8 or CodePoints object that views `text`.
template <typename Work>
void with_source(const WasmText &text, const ClassTable &classes, Work work) {
  if (text.is_utf8)
    work(Utf8(static_cast<const std::uint8_t *>(text.data), text.size, classes));
  else
    work(CodePoints<std::uint32_t>(static_cast<const std::uint32_t *>(text.data), text.size,
                                   classes));
}

// Returns the width, in `unit`, of the code point at code unit `at` of `source`.
template <typename Source>
std::size_t width_at(const Source &source, std::size_t at, OffsetUnit unit) {
  if (std::is_same_v<Source, Utf8> && unit == OffsetUnit::BYTE)
    return source.element(at).width;
  return static_cast<std::size_t>(width_in(unit, source.code_point(at)));
}

// Returns the unit that JavaScript passes as a number: 0 for code points, 1 for bytes, 2 for
// UTF-16 code units.
inline OffsetUnit unit_of(int number) { return static_cast<OffsetUnit>(number); }

} // namespace pretok
