// NFC, the normal form that composes letters with their marks. The tables are those of Unicode
// 9, as in Hugging Face's library tokenizers, which defines tokenizer.json files.
// bpe/normalizers/unicode_forms.py computes the same NFC in Python. Bytes that are not UTF-8
// are kept; nothing composes with them or moves past them.
//
// A code point has an NFC boundary before it if its decomposition starts with a starter
// (combining class 0) that composes with nothing before it. A text can be cut at such a
// boundary: the NFC of the text is the NFC of the two parts, joined. Proof:
//   - Marks are sorted only between two starters, so never across the cut.
//   - A code point composes only with the last starter before it. The text after the cut begins
//     with a starter, so for a code point after the cut the last starter is after the cut too.
//     The composite of a starter is a starter again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Returns whether the text is in NFC. Takes linear time, and reads several bytes per cycle in
// most scripts. Allocates only if a part of the text may not be in NFC.
bool is_nfc(const std::uint8_t *data, std::size_t size);

// A faster test than is_nfc, for code units of 16 or 32 bits. If it returns true, the text is
// in NFC. It returns false for some texts in NFC: those with a surrogate, or with a code point
// that composes with some starter, after a starter that composes with some code point.
template <typename Unit> bool is_surely_nfc(const Unit *units, std::size_t size);

// Appends the NFC of the text to `to`. The NFC has at most three times as many bytes as the
// text. Takes linear time, and n log n for n marks in a row. Throws std::bad_alloc.
void to_nfc(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to);

// Appends the NFD of the text to `to`: decomposes code points and sorts marks, but composes
// nothing. The NFD has at most three times as many bytes as the text. Takes linear time, and
// n log n for n marks in a row. Throws std::bad_alloc.
void to_nfd(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to);

// Returns the combining class of a code point, which may be U+DC00 + byte.
std::uint32_t combining_class(std::uint32_t code_point);

// Returns whether the code point has an NFC boundary before it, so that every text can be cut
// before this code point.
bool has_nfc_boundary_before(std::uint32_t code_point);

// Returns the start of the last code point in data[from..size) that has an NFC boundary before
// it, or 0 if there is none. Ignores an incomplete UTF-8 sequence at the end, so the result is
// right whatever text follows. data[0] must start a code point.
std::size_t last_nfc_cut(const std::uint8_t *data, std::size_t size, std::size_t from);

} // namespace pretok
