// Checks whether Python texts are in NFC.
#pragma once

#include "bindings/convert.hpp"

#include "core/unicode/nfc.hpp"

namespace pretok {

// Returns whether a text is in NFC. Does not need the GIL.
inline bool is_normal(const TextView &text) {
  Scratch scratch;
  return text.is_below_100() || text.is_surely_nfc() || text.with_utf8(scratch, is_nfc);
}

} // namespace pretok
