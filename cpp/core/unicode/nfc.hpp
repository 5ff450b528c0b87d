// NFC, the normal form in which letters are composed with their marks. It is that of Unicode 9,
// which the engine of tokenizer.json files implements; bpe/encoding/normalize.py is its twin.
// Bytes that are not UTF-8 are kept. Nothing composes with them or moves past them.
//
// A text can be cut before a code point with an NFC boundary before it. Its decomposition
// starts with a starter (combining class 0) that composes with nothing before it. Proof:
//   - Marks are sorted only between two starters, so never across the cut.
//   - A code point composes with the last starter before it. After the cut, that starter is
//     also after the cut. It stays a starter, for a composite of a starter is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Whether the text is in NFC. Takes linear time, several bytes per cycle for most scripts.
// Allocates only for runs of a letter and marks that may compose.
bool is_nfc(const std::uint8_t *data, std::size_t size);

// Appends the NFC of the text, which has at most three times its bytes. Takes linear time, and
// n log n for n marks in a row. Throws std::bad_alloc.
void to_nfc(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to);

// Whether every text can be cut before this code point: the NFC of the whole is the NFC of both
// parts.
bool has_nfc_boundary_before(std::uint32_t code_point);

// Returns the last such cut in data[from..size), or 0, whatever text follows. It is not before
// or within an incomplete sequence. data[0] must start a code point.
std::size_t last_nfc_cut(const std::uint8_t *data, std::size_t size, std::size_t from);

} // namespace pretok
