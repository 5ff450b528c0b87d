// The class tables of each Unicode version, as cpp/generate/unicode_tables.py wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pretok {

// Runs of code points with one atom, ascending: first code point << 8 | atom.
struct UnicodeTable {
  const std::uint32_t *runs;
  std::size_t size;
};

// Returns the table of a version such as "16.0"; one with size 0 if there is none.
UnicodeTable unicode_table(std::string_view version);

} // namespace pretok
