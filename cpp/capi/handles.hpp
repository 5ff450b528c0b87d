// What the handles of the C interface are.
#pragma once

#include "capi/pretok.h"

#include "core/bpe/vocabulary.hpp"
#include "core/encode/added.hpp"
#include "core/encode/encoder.hpp"
#include "core/split/pre_tokenizer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// What finds the added tokens of a text, where each special one is treated in one way.
struct Policy {
  explicit Policy(const AddedTokens &tokens)
      : all(tokens), exact(tokens.exact()), normalized(tokens.normalized()) {}

  AddedTokens all; // of a text that is not to be normalized, or is normal
  // Of another: those that are found in text as it is, and those found once it is normalized.
  AddedTokens exact;
  AddedTokens normalized;
};

// A pre-tokenizer and the name of its preset; "" for one of the user's own.
struct NamedPreTokenizer {
  std::string name;
  PreTokenizer pre_tokenizer;
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

  pretok::NamedPreTokenizer named;
  pretok::Vocabulary vocabulary;
  std::optional<pretok::Encoder> encoder; // always there, once this is made
  bool nfc = false;                       // text is normalized
  std::size_t id_limit = 0;               // one more than the largest id
  std::vector<pretok::AddedToken> added;
  std::vector<bool> special;         // by id
  std::vector<std::uint32_t> before; // what add_special_tokens adds
  std::vector<std::uint32_t> after;
  std::vector<pretok::Policy> policies; // by pretok_special
  std::array<bool, 256> no_token{};     // the bytes that have none
  bool lacks_bytes = false;             // whether there are any
};

struct pretok_special_set {
  const pretok_tokenizer *tokenizer;
  pretok::Policy policy;
};
