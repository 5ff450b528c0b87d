// Makes a Decoder from a TokenizerSpec.
#pragma once

#include "core/decode/decoder.hpp"
#include "core/normalize/normalizer_chain.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <memory>

namespace pretok {

// The first `listed` tokens of spec.vocabulary are those of the model, and others are added
// tokens. `normalizer` is the normalizer of the model if it is a chain, or nullptr. With the
// decoders of a tokenizer.json, a special token is never skipped if the normalizer changes its
// text.
std::unique_ptr<const Decoder> make_decoder(const TokenizerSpec &spec, std::size_t listed,
                                            const NormalizerChain *normalizer);

} // namespace pretok
