// Makes a Tokenizer from the parts of a file.
#pragma once

#include "core/encode/tokenizer.hpp"
#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace pretok {

struct TokenizerOptions {
  std::optional<NamedPreTokenizer> split; // in place of the split of the file
  // Follow the added tokens of the file. A token that the file has with the same id is skipped.
  std::vector<AddedToken> special_tokens;
  std::size_t cache_limit = CacheBudget::DEFAULT_LIMIT; // in bytes
  bool nfc = false; // normalizes text to NFC, if the file has no normalizer
  // Takes less time to make, and more time to encode.
  bool for_short_texts = false;
  // Prepares Tokenizer::encode_some. All other calls take more time.
  bool for_dropout = false;
  // If false, the caller decodes ids itself: the Tokenizer has no Decoder, and no template.
  bool decodes = true;
  // Has no normalizer: the caller passes parts of normalized text, in which marks ("▁") stand
  // for spaces.
  bool takes_normalized_text = false;
};

// Returns an error of make_tokenizer that `settings` and `options` cause. Takes less time.
LoadError check_settings(const TokenizerSettings &settings, TokenizerOptions options);

// Makes a Tokenizer. `spec` is a spec that read_spec has checked.
LoadError make_tokenizer(TokenizerSpec &&spec, TokenizerOptions options,
                         std::unique_ptr<Tokenizer> &result);

} // namespace pretok
