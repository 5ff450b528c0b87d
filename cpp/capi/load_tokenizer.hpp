// A tokenizer from what a file says and what the caller does.
#pragma once

#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "formats/tokenizer_spec.hpp"

#include <memory>

namespace pretok {

// Reads the options of a caller, who may give none.
pretok_status read_load_options(const pretok_load_options *given, pretok_load_options &options,
                                pretok_error *error);

// Returns PRETOK_OK with `made`, or what is wrong.
pretok_status load_tokenizer(TokenizerSpec &&spec, const pretok_load_options &options,
                             std::unique_ptr<pretok_tokenizer> &made, pretok_error *error);

} // namespace pretok
