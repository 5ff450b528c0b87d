// Makes the parts of a Decoder from a TokenizerSpec.
#pragma once

#include "core/decode/decoder.hpp"
#include "core/normalize/normalizer_chain.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>

namespace pretok {

// Makes the tokens of a model that merges characters. spec.vocabulary must contain all added
// tokens. The first `file_added` added tokens are those of the file; the rest come from the
// load options. If ids are decoded as SentencePiece decodes them, special tokens of the file
// have no text.
TextTokens text_tokens(const TokenizerSpec &spec, std::size_t file_added);

// Makes the chain of spec.decoder, which is set. spec.vocabulary must contain all added tokens.
// `normalizer` is the normalizer of the model, or nullptr. A special token can be omitted
// unless the normalizer changes its text.
DecoderChain decoder_chain(const TokenizerSpec &spec, const NormalizerChain *normalizer);

} // namespace pretok
