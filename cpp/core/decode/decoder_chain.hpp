// Decodes ids with the decoders of a tokenizer.json. ChainDecoder of bpe/decoders/chain.py has
// the same results.
#pragma once

#include "core/decode/decoder_flow.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

class DecoderChain {
public:
  // `texts` and `is_skipped` are by id: the text of each token, or "", and whether decoding may
  // omit it as a special token.
  DecoderChain(const std::vector<DecoderStep> &steps, const std::vector<std::string> &texts,
               std::vector<bool> is_skipped);

  const std::vector<DecoderRule> &rules() const { return rules_; }

  // Passes the texts of ids to `flows`. Each id must have a token. If `skip_special`, omits
  // special tokens.
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
