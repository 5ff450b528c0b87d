// The fast check for NFC, which needs no decomposition.
#include "core/unicode/nfc.hpp"
#include "core/unicode/nfc_kind.hpp"

#include <algorithm>
#include <array>

namespace pretok {
namespace {

// A bit for each block of 64 code points below U+10000, in ascending order. The bit is 1 if the
// block has surrogates, or a code point that is not a stable starter.
using UnstableBlocks = std::array<std::uint64_t, 16>;

const UnstableBlocks &unstable_blocks() {
  static const UnstableBlocks all = [] {
    UnstableBlocks blocks{};
    for (std::uint32_t code_point = 0; code_point < 0x10000; ++code_point)
      if (!is_stable_starter(nfc_kind_of(code_point)) || (code_point & 0xF800) == 0xD800)
        blocks[code_point >> 12] |= std::uint64_t{1} << (code_point >> 6 & 63);
    return blocks;
  }();
  return all;
}

} // namespace

template <typename Unit> bool is_surely_nfc(const Unit *units, std::size_t size) {
  constexpr std::size_t AT_ONCE = 32;
  // All code points below U+0300 and from U+2002 (punctuation) to U+20CF are stable starters.
  // The compiler uses vector instructions for this test.
  const auto is_common = [units](std::size_t begin, std::size_t end) {
    unsigned others = 0;
    for (std::size_t i = begin; i < end; ++i)
      others |= static_cast<unsigned>(units[i] >= 0x300) &
                static_cast<unsigned>(static_cast<Unit>(units[i] - 0x2002) >= 0x20D0 - 0x2002);
    return others == 0;
  };
  const UnstableBlocks &blocks = unstable_blocks();
  std::uint32_t starter = 0;    // the last starter so far
  std::uint32_t last_class = 0; // the combining class of the last code point so far
  for (std::size_t at = 0; at < size; at += AT_ONCE) {
    const std::size_t end = at + std::min(AT_ONCE, size - at);
    std::uint64_t is_unstable = 0;
    if (end != at + AT_ONCE || !is_common(at, at + AT_ONCE))
      for (std::size_t i = at; i < end; ++i)
        is_unstable |= (blocks[units[i] >> 12 & 15] >> (units[i] >> 6 & 63) & 1) |
                       std::uint32_t{units[i]} >> 16;
    if (is_unstable == 0) {
      starter = units[end - 1];
      last_class = 0;
      continue;
    }
    // The quick check of Unicode (UAX #15), with one addition: a code point that may compose is
    // no obstacle if the last starter composes with nothing.
    for (std::size_t i = at; i < end; ++i) {
      const std::uint32_t unit = units[i];
      const NfcKind kind = nfc_kind_of(unit);
      if ((unit & 0xFFFFF800) == 0xD800 || (kind.flags & NOT_IN_NFC) != 0 ||
          (kind.combining_class != 0 && kind.combining_class < last_class) ||
          ((kind.flags & COMPOSES_WITH_PREVIOUS) != 0 &&
           (nfc_kind_of(starter).flags & COMPOSES_WITH_NEXT) != 0))
        return false;
      last_class = kind.combining_class;
      if (last_class == 0)
        starter = unit;
    }
  }
  return true;
}
template bool is_surely_nfc(const std::uint16_t *, std::size_t);
template bool is_surely_nfc(const std::uint32_t *, std::size_t);

} // namespace pretok
