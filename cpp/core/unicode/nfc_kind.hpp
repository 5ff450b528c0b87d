// The properties of one code point that decide what NFC does with it, from tables. Only the
// files that implement NFC include this header; nfc.hpp declares the functions for all other
// files.
#pragma once

#include <cstdint>

namespace pretok {

enum : std::uint8_t {
  BOUNDARY_BEFORE = 1,        // has an NFC boundary before it (nfc.hpp)
  COMPOSES_WITH_NEXT = 2,     // the code point, or the first one of its decomposition, may
                              // compose with a later code point
  COMPOSES_WITH_PREVIOUS = 4, // may compose with the previous starter
  NOT_IN_NFC = 8,             // NFC replaces the code point: NFC_Quick_Check=No
};

struct NfcKind {
  std::uint8_t combining_class;
  std::uint8_t flags;
};

namespace nfc_tables {

#include "core/unicode/generated/nfc_kinds.inc"

} // namespace nfc_tables

// Returns the kind of a code point. Inline, since NFC calls it for each code point of a text.
constexpr NfcKind nfc_kind_of(std::uint32_t code_point) {
  if (code_point >= nfc_tables::NFC_END)
    return nfc_tables::KINDS[0];
  using namespace nfc_tables;
  const unsigned block = HIGH[code_point >> 8] * 16U + (code_point >> 4 & 15);
  return KINDS[LOW[MIDDLE[block] * 16U + (code_point & 15)]];
}

// Returns whether the code point is a starter with the property NFC_Quick_Check=Yes. NFC keeps
// such a code point, unless a later code point composes with it.
constexpr bool is_stable_starter(NfcKind kind) {
  return (kind.flags & (BOUNDARY_BEFORE | NOT_IN_NFC)) == BOUNDARY_BEFORE;
}

// Returns false if the code point is its own decomposition; may return true for any other.
inline bool may_decompose(NfcKind kind) {
  return (kind.flags & (COMPOSES_WITH_NEXT | NOT_IN_NFC)) != 0;
}

} // namespace pretok
