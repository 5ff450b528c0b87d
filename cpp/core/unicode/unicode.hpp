// The atom of every code point in each Unicode version. Atoms are sets of code points;
// alphabet.hpp explains them. cpp/generate/unicode_tables.py generates the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pretok {

// Runs of consecutive code points with one atom, in ascending order. Each run is stored as
// first code point << 8 | atom.
struct UnicodeTable {
  const std::uint32_t *runs;
  std::size_t size;
};

// Returns the table of a version such as "16.0". The size of the table is 0 if the version is
// not built in.
UnicodeTable unicode_table(std::string_view version);

// Returns the Unicode version of a table that unicode_table returned, such as "16.0". Returns
// "" for any other table.
std::string_view unicode_version(UnicodeTable table);

} // namespace pretok
