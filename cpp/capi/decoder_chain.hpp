// Decodes ids with the decoders of a tokenizer.json. ChainDecoder of bpe/decoders/chain.py has
// the same results.
#pragma once

#include "capi/decoder_flow.hpp"
#include "core/normalize/normalizer_chain.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

class DecoderChain {
public:
  // spec.decoder is set, and spec.vocabulary contains all added tokens. `normalizer` is the
  // normalizer of the model, or nullptr.
  DecoderChain(const TokenizerSpec &spec, const NormalizerChain *normalizer);

  const std::vector<DecoderRule> &rules() const { return rules_; }

  // Passes the texts of ids to `flows`. Each id must have a token. If `skip_special`, omits
  // special tokens, unless the normalizer changes their text.
  void feed(const std::uint32_t *ids, std::size_t count, bool skip_special, DecoderFlows &flows,
            std::string &text) const;

  // Returns the bytes of ids. Invalid UTF-8 of fallback tokens is kept.
  std::string decode(const std::uint32_t *ids, std::size_t count, bool skip_special) const;

private:
  std::vector<DecoderRule> rules_;
  std::string texts_;
  std::vector<std::size_t> starts_; // by id, and at the end the size of texts_
  std::vector<bool> is_skipped_;    // by id
};

} // namespace pretok
