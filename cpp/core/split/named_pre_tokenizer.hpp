// A pre-tokenizer with its name.
#pragma once

#include "core/split/pre_tokenizer.hpp"
#include "core/unicode/unicode.hpp"

#include <string>

namespace pretok {

// A pre-tokenizer and the name of its preset. The name of a custom pre-tokenizer is "".
struct NamedPreTokenizer {
  std::string name;
  PreTokenizer pre_tokenizer;
  // The table of its Unicode version. Empty if the split depends on no version.
  UnicodeTable table = {};
};

} // namespace pretok
