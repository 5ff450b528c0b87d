// A text of JavaScript as the core reads it.
#pragma once

#include "core/split/sources.hpp"
#include "core/split/units.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pretok {

// UTF-8, or 32-bit code points for a string with lone surrogates.
struct WasmText {
  const void *data;
  std::size_t size; // in code units
  bool is_utf8;
};

// Calls work(source) with `text` as a Utf8 or as CodePoints.
template <typename Work>
void with_source(const WasmText &text, const ClassTable &classes, Work work) {
  if (text.is_utf8)
    work(Utf8(static_cast<const std::uint8_t *>(text.data), text.size, classes));
  else
    work(CodePoints<std::uint32_t>(static_cast<const std::uint32_t *>(text.data), text.size,
                                   classes));
}

// Returns the width of the code point at `at`, a code unit of `source`, in `unit`.
template <typename Source>
std::size_t width_at(const Source &source, std::size_t at, OffsetUnit unit) {
  if (std::is_same_v<Source, Utf8> && unit == OffsetUnit::BYTE)
    return source.element(at).width;
  return static_cast<std::size_t>(width_in(unit, source.code_point(at)));
}

// Returns the unit that JavaScript passes as a number: 0 is code points, 1 bytes, 2 UTF-16.
inline OffsetUnit unit_of(int number) { return static_cast<OffsetUnit>(number); }

} // namespace pretok
