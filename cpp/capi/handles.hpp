// The structs that the opaque handles of the C API point to.
#pragma once

#include "capi/pretok.h"

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
  UnicodeTable table = {}; // of the Unicode version; empty for a model that merges characters
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
  std::optional<pretok::Encoder> encoder;    // load_tokenizer sets both
  std::optional<pretok::Tokenizer> pipeline; // uses `encoder`
  std::size_t id_limit = 0;                  // the largest id plus one
  std::vector<pretok::AddedToken> added;
  std::vector<bool> special;                      // by id: whether the token is special
  std::vector<pretok::AddedTokenPhases> policies; // by value of pretok_special
  std::array<bool, 256> no_token{};               // by byte: whether the byte has no token
  bool lacks_bytes = false;                       // whether any byte has no token
};

struct pretok_special_set {
  const pretok_tokenizer *tokenizer;
  pretok::AddedTokenPhases policy;
};
