// The atoms of every code point in each Unicode version: cpp/generate/unicode_tables.py
// generates the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pretok {

// Runs of code points of one atom, in ascending order: first code point << 8 | atom.
struct UnicodeTable {
  const std::uint32_t *runs;
  std::size_t size;
};

// Returns the table of a version such as "16.0". Its size is 0 if the version is not built in.
UnicodeTable unicode_table(std::string_view version);

} // namespace pretok
