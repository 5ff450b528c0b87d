// Reads the normalizer and the decoder of a tokenizer.json. bpe/formats/normalizer_json.py and
// decoder_json.py do the same in Python, and also compile any regex.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

#include <vector>

namespace pretok {

// Appends the steps of the member "normalizer". Fails if a step is malformed or not supported.
void read_normalizer_steps(const JsonPart &normalizer, std::vector<NormalizerStep> &steps);

// Appends the steps of the member "decoder". Returns whether they only join the bytes of
// byte-level tokens.
bool read_decoder_steps(const JsonPart &decoder, std::vector<DecoderStep> &steps);

// Reads a Metaspace, which may be a pre_tokenizer or a decoder.
MetaspaceSpec read_json_metaspace(const JsonPart &part);

} // namespace pretok
