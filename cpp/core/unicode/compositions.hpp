// The canonical compositions and decompositions of code points in Unicode 9, the version of NFC
// (nfc.hpp). A composition is a pair of code points that NFC replaces by one code point, their
// composite.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns the composite of two code points, or NOT_COMPOSED.
std::uint32_t composed(std::uint32_t first, std::uint32_t second);
inline constexpr std::uint32_t NOT_COMPOSED = 0xFFFFFFFF;

// Writes the full canonical decomposition of a code point to `parts`, which has room for
// MAX_DECOMPOSITION code points. Returns their number. A code point without a decomposition is
// its own decomposition.
std::size_t decompose(std::uint32_t code_point, std::uint32_t *parts);
// cpp/generate/bpe_tables.py checks this limit.
inline constexpr std::size_t MAX_DECOMPOSITION = 4;

} // namespace pretok
