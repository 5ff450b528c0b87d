// Limits on the text of a tokenizer.json, checked before parsing. Lists and objects take many
// times the memory of their text, so a limit on bytes alone does not bound the memory.
// pretok/json_text.py has the same limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace pretok {

inline constexpr std::size_t MAX_JSON_BYTES = std::size_t{1} << 27;

// Returns the number of lists and objects. Also counts brackets in strings.
inline std::size_t count_json_containers(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (byte | ('[' ^ '{')) == '{'; // is one of the two
  }));
}

// Returns the maximal number of lists and objects in a text of `size` bytes.
inline std::size_t max_json_containers(std::size_t size) { return 1000 + size / 8; }

} // namespace pretok
