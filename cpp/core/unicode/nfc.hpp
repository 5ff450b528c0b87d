// NFC, the normal form of text in which letters and their marks are composed. It is that of
// Unicode 9, as the engine of Hugging Face's tokenizer.json files makes it:
// bpe/encoding/normalize.py is the twin. Bytes that are no UTF-8 are kept; nothing composes
// with them or moves past them.
//
// Why a text can be cut before what begins anew. That is a code point whose decomposition
// starts with one of combining class 0, with which nothing before it composes. Marks are only
// sorted between two code points of class 0, so those before the cut and those behind it are
// sorted by themselves. What composes does so with the last code point of class 0 before it:
// for all behind the cut that is behind the cut, and stays there, for a composite of a code
// point of class 0 has class 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Whether to_nfc would change nothing. Linear time, some bytes a cycle for most scripts; no
// memory but for the longest run of a letter with marks that may compose.
bool is_nfc(const std::uint8_t *data, std::size_t size);

// Appends the text in NFC, which has at most three times its bytes. Linear time, but for a run
// of n marks in a row n log n. Throws std::bad_alloc.
void to_nfc(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to);

// Whether a text can be cut before this code point: NFC of both parts is NFC of the whole,
// whatever they are.
bool has_nfc_boundary_before(std::uint32_t code_point);

// Returns the last place in data[from..size), 0 if there is none, where the text can be cut
// like that, whatever comes behind data[size - 1]; so never within a sequence, or before one
// that is not there as a whole. data[0] must start a code point.
std::size_t last_nfc_cut(const std::uint8_t *data, std::size_t size, std::size_t from);

} // namespace pretok
