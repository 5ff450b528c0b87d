// Makes pre-tokenizers by preset name or from a program.
#pragma once

#include "capi/handles.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pretok {

// Makes the pre-tokenizer of a built-in preset. `unicode` is the Unicode version to use;
// nullptr means the version of the preset.
pretok_status find_pre_tokenizer(const char *name, const char *unicode,
                                 std::optional<NamedPreTokenizer> &result, pretok_error *error);

// Makes a pre-tokenizer from the words of a program, which encode the rules of a preset
// (core/split/program.hpp).
pretok_status read_pre_tokenizer(const std::uint32_t *words, std::size_t count,
                                 const char *unicode, std::optional<NamedPreTokenizer> &result,
                                 pretok_error *error);

} // namespace pretok
