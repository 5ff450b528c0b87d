// Pre-tokenizers by the name of their preset, or from a program.
#pragma once

#include "capi/handles.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pretok {

// `unicode` may be nullptr: the preset's own version.
pretok_status find_pre_tokenizer(const char *name, const char *unicode,
                                 std::optional<NamedPreTokenizer> &made, pretok_error *error);

pretok_status read_pre_tokenizer(const std::uint32_t *words, std::size_t count,
                                 const char *unicode, std::optional<NamedPreTokenizer> &made,
                                 pretok_error *error);

} // namespace pretok
