// The built-in presets, by name or alias, for programs without Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

struct Preset {
  // Returns the stages as 32-bit words, for read_stages (program.hpp).
  std::vector<std::uint32_t> words() const;

  const char *name;
  const char *names;   // the name and the aliases, each with a space before and after it
  const char *unicode; // the Unicode version, such as "16.0"
  const std::uint8_t *stored_words; // the words as LEB128 numbers
  std::size_t stored_size;
};

std::size_t preset_count();

// `index` must be less than preset_count().
const Preset &preset_at(std::size_t index);

// Returns the preset of this name or alias, in its exact spelling, or nullptr if there is none.
const Preset *find_preset(std::string_view name);

} // namespace pretok
