// Maps an offset in normalized text to its source, the text before normalization.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

struct NfcSource {
  std::size_t position; // in the source, in bytes
  bool is_exact;        // NFC of source[..position) is the normalized text before the offset
};

// Returns the position in data[0..size) from which byte `offset` of its NFC comes. If NFC
// changes a letter and its marks, all their bytes in the NFC come from the start of the letter.
// The end of the NFC (`offset` equals its size) comes from `size`. Takes linear time.
NfcSource find_nfc_source(const std::uint8_t *data, std::size_t size, std::size_t offset);

} // namespace pretok
