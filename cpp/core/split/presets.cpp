#include "core/split/presets.hpp"

#include <iterator>
#include <string>

namespace pretok {
namespace {

#include "core/split/generated/presets.inc"

} // namespace

std::vector<std::uint32_t> Preset::words() const {
  std::vector<std::uint32_t> words;
  std::uint32_t word = 0;
  unsigned shift = 0;
  for (std::size_t i = 0; i < stored_size; ++i) {
    word |= (stored_words[i] & 0x7FU) << shift;
    shift += 7;
    if (stored_words[i] < 0x80) {
      words.push_back(word);
      word = shift = 0;
    }
  }
  return words;
}

std::size_t preset_count() { return std::size(PRESETS); }

const Preset &preset_at(std::size_t index) { return PRESETS[index]; }

const Preset *find_preset(std::string_view name) {
  if (name.empty() || name.find(' ') != std::string_view::npos)
    return nullptr;
  const std::string padded_name = ' ' + std::string(name) + ' ';
  for (const Preset &preset : PRESETS)
    if (std::string_view(preset.names).find(padded_name) != std::string_view::npos)
      return &preset;
  return nullptr;
}

} // namespace pretok
