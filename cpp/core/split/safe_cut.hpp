// Safe cuts. A cut is a position in a text. A cut is safe if splitting the two parts of the
// text, each as a text of its own, gives the pre-tokens of the whole text.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns the last safe cut that it finds in data[0..size), or 0 if it finds none. The cut is
// the end of a pre-token, may be `size`, and is safe whatever text follows data[0..size). A
// pre-token must start at data[0]. If the first stage is not ISOLATED, safe_cut finds no cut.
//
// safe_cut first tries the positions that PreTokenizer::cuts() marks as BOUNDARY: no pre-token
// holds the code points on both sides (neighbors.hpp). The split before a BOUNDARY depends on
// at most one code point after it. So safe_cut splits the text from the previous BOUNDARY to
// this one twice, with and without the next code point. If the two splits are equal, the
// BOUNDARY is a safe cut. If no BOUNDARY is safe, safe_cut tries the ends of pre-tokens of the
// first stage. A pre-token of the last stage also ends there, since later stages split only the
// pieces of the first stage.
std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size);

// Returns a safe cut in start < cut <= end for which accepts(cut) is true, or 0 if it finds
// none. `start` and `end` are byte positions, and may lie within a UTF-8 sequence. The result
// depends on data[start..end) only.
//
// If no cut between pre-tokens is found, the result may be a cut within a pre-token for which
// divides(before, is_joint) is true: whether the pre-token of the code point at `before`, which
// ends at the cut, may be cut there. `is_joint` says whether the cut then changes no other
// pre-token (neighbors.hpp).
std::size_t safe_cut_in(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                        std::size_t start, std::size_t end,
                        FunctionRef<bool(std::size_t)> accepts,
                        FunctionRef<bool(std::size_t, bool)> divides);

} // namespace pretok
