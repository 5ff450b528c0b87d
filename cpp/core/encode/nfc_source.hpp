// Maps an offset in normalized text to its source, the text before normalization.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

struct NfcSource {
  std::size_t position; // in the source
  bool is_exact;        // NFC of source[..position) is the normalized text before the offset
};

// Returns the source of byte `offset` of the NFC of data[0..size). If NFC changes a letter and
// its marks, the source of each of their bytes is the start of the letter. Linear time.
NfcSource find_nfc_source(const std::uint8_t *data, std::size_t size, std::size_t offset);

} // namespace pretok
