// The structs that the opaque handles of the C API point to.
#pragma once

#include "capi/pretok.h"

#include "core/bpe/vocabulary.hpp"
#include "core/decode/decoder.hpp"
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

  pretok::NamedPreTokenizer named;
  pretok::Vocabulary vocabulary;
  // `pipeline` uses one of these, if the model has a normalizer other than NFC.
  std::optional<pretok::SentencePieceNormalizer> normalizer;
  std::optional<pretok::NormalizerChain> chain;
  // load_tokenizer sets these.
  std::optional<pretok::Decoder> decoder;
  std::optional<pretok::Encoder> encoder;
  std::optional<pretok::Tokenizer> pipeline; // uses `encoder`
  std::size_t id_limit = 0;                  // the largest id plus one
  std::vector<pretok::AddedToken> added;
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
