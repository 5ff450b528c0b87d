// Makes a tokenizer from a TokenizerSpec and the options of the caller.
#pragma once

#include "capi/handles.hpp"
#include "formats/tokenizer_spec.hpp"

#include <memory>
#include <vector>

namespace pretok {

// Checks `caller_options` and copies them to `options`. If `caller_options` is nullptr, sets
// the defaults.
pretok_status read_load_options(const pretok_load_options *caller_options,
                                pretok_load_options &options, pretok_error *error);

// Returns for each value of pretok_special the search for `tokens`.
std::vector<AddedTokenPhases> make_policies(const Tokenizer &tokenizer,
                                            const std::vector<AddedToken> &tokens);

// Makes a tokenizer. Sets `result` and returns PRETOK_OK, or writes the error.
pretok_status load_tokenizer(TokenizerSpec &&spec, const pretok_load_options &options,
                             std::unique_ptr<pretok_tokenizer> &result, pretok_error *error);

} // namespace pretok
