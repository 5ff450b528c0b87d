// Reads the normalizer and the decoder of a tokenizer.json. bpe/formats/normalizer_json.py and
// decoder_json.py do the same in Python, and also compile any regex.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

#include <optional>
#include <vector>

namespace pretok {

// Appends the steps of the member "normalizer". Sets `error` and returns false if a step is
// malformed or not supported.
bool read_normalizer_steps(const JsonPart &file, std::vector<NormalizerStep> &steps,
                           LoadError &error);

// Appends the steps of the member "decoder". Sets `joins_bytes` if they only join the bytes of
// byte-level tokens.
bool read_decoder_steps(const JsonPart &file, std::vector<DecoderStep> &steps,
                        bool &joins_bytes, LoadError &error);

// Reads a Metaspace, which may be a pre_tokenizer or a decoder. `splits` may be nullptr.
bool read_json_metaspace(const JsonPart &part, MetaspaceSpec &metaspace, bool *splits,
                         LoadError &error);

} // namespace pretok
