// Makes pre-tokenizers by the name of a preset, or from a program.
#pragma once

#include "core/split/named_pre_tokenizer.hpp"
#include "formats/load_error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pretok {

// Makes the pre-tokenizer of a built-in preset. `unicode` is the Unicode version to use;
// nullptr means the version of the preset.
LoadError find_preset_split(const char *name, const char *unicode,
                            std::optional<NamedPreTokenizer> &result);

// Makes a pre-tokenizer from the words of a program, which encode the rules of a preset
// (core/split/program.hpp).
LoadError read_split(const std::uint32_t *words, std::size_t count, const char *unicode,
                     std::optional<NamedPreTokenizer> &result);

} // namespace pretok
