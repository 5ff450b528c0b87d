// The structs that the opaque handles of the C API point to.
#pragma once

#include "capi/pretok.h"

#include "core/encode/tokenizer.hpp"
#include "core/split/named_pre_tokenizer.hpp"

#include <memory>
#include <string>
#include <vector>

struct pretok_pre_tokenizer {
  pretok::NamedPreTokenizer named;
};

struct pretok_tokenizer {
  std::unique_ptr<const pretok::Tokenizer> core;
  // By value of pretok_special: the added tokens that encoding searches for.
  std::vector<pretok::AddedTokenPhases> policies;
  // For encoding with dropout; nullptr unless pretok_load_options has `dropout`.
  std::unique_ptr<const pretok::Tokenizer> dropout_core;
};

struct pretok_special_set {
  const pretok_tokenizer *tokenizer;
  pretok::AddedTokenPhases policy;
  std::string key; // equal only for sets of equal texts
};
