// The structs that the opaque handles of the C API point to.
#pragma once

#include "capi/decoder_chain.hpp"
#include "capi/pretok.h"
#include "capi/text_tokens.hpp"

#include "core/bpe/vocabulary.hpp"
#include "core/encode/added.hpp"
#include "core/encode/encoder.hpp"
#include "core/encode/tokenizer.hpp"
#include "core/split/pre_tokenizer.hpp"
#include "core/unicode/unicode.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// A pre-tokenizer and the name of its preset. The name of a custom pre-tokenizer is "".
struct NamedPreTokenizer {
  std::string name;
  PreTokenizer pre_tokenizer;
  // The table of its Unicode version. Empty for a model that merges characters, like Llama 2.
  // The tokens of such a model are text, except fallback tokens such as <0x0A>.
  UnicodeTable table = {};
};

} // namespace pretok

struct pretok_pre_tokenizer {
  pretok::NamedPreTokenizer named;
};

struct pretok_tokenizer {
  explicit pretok_tokenizer(pretok::NamedPreTokenizer split) : named(std::move(split)) {}
  pretok_tokenizer(const pretok_tokenizer &) = delete;
  pretok_tokenizer &operator=(const pretok_tokenizer &) = delete;

  bool is_special(std::uint32_t id) const { return id < special.size() && special[id]; }

  // Returns whether a token stands for one byte, such as <0x0A>.
  bool is_fallback(std::uint32_t id) const {
    return texts ? texts->token(id).kind == pretok::TextTokens::Kind::FALLBACK
                 : id < fallback.size() && fallback[id];
  }

  // Returns the bytes of a token. `bytes` of the result is nullptr if no token has this id.
  pretok::TokenView token(std::uint32_t id) const {
    return texts ? texts->token(id).bytes : vocabulary.token(id);
  }

  pretok::NamedPreTokenizer named;
  pretok::Vocabulary vocabulary;
  std::optional<pretok::TextTokens> texts; // set if the model merges characters
  std::vector<bool> fallback; // by id: whether the token is a fallback token, without `texts`
  // `pipeline` uses one of these, if the model has a normalizer other than NFC.
  std::optional<pretok::SentencePieceNormalizer> normalizer;
  std::optional<pretok::NormalizerChain> chain;
  std::optional<pretok::DecoderChain> decoder; // if set, decodes in place of `texts`
  std::optional<pretok::Encoder> encoder;      // load_tokenizer sets `encoder` and `pipeline`
  std::optional<pretok::Tokenizer> pipeline;   // uses `encoder`
  std::size_t id_limit = 0;                    // the largest id plus one
  std::vector<pretok::AddedToken> added;
  std::vector<bool> special; // by id: whether the token is special
  // By value of pretok_special: the added tokens that encoding searches for.
  std::vector<pretok::AddedTokenPhases> policies;
  // For each byte, whether the vocabulary has no token of this byte. False for all bytes if the
  // model merges characters.
  std::array<bool, 256> no_token{};
  bool lacks_bytes = false; // whether no_token is true for any byte
};

struct pretok_special_set {
  const pretok_tokenizer *tokenizer;
  pretok::AddedTokenPhases policy;
};
