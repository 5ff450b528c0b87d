// Decodes UTF-8 that comes in parts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pretok {

enum class Invalid { ONE_MARK, MARK_PER_BYTE, KEEP };

void append_replacements(std::size_t count, std::string &text);

// Appends `data` to `text`. Replaces ill-formed sequences: each maximal subpart (a term of the
// Unicode Standard) by one U+FFFD, or each byte of such a subpart, or keeps them. Does not
// append an incomplete sequence at the end of `data`, and returns its start. If there is none,
// returns the size of `data`.
std::size_t append_whole_utf8(std::string_view data, Invalid invalid, std::string &text);

} // namespace pretok
