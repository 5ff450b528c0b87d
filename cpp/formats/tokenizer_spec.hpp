// What a file of a tokenizer says, whatever its format: bpe/formats/contents.py is the twin.
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "core/encode/added.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

struct TokenizerSpec {
  VocabularyData vocabulary;
  std::vector<AddedToken> added;      // content, id, normalized, lstrip, rstrip, single_word
  std::vector<bool> added_special;    // of each of those
  std::string preset;                 // the name of one built in; "" if the file does not say
  std::string why_no_preset;          // what to say then
  std::vector<std::uint32_t> program; // for read_stages, if the preset is not built in
  std::string unicode;                // the Unicode version; "": the preset's own
  bool nfc = false;                   // text is normalized
  bool add_prefix_space = false;
  std::vector<std::uint32_t> before; // ids that add_special_tokens puts before a text
  std::vector<std::uint32_t> after;
};

// What is wrong with a file.
struct LoadError {
  enum Kind { NONE, MALFORMED, UNSUPPORTED } kind = NONE;
  std::string message; // what was given, what was expected, what to do

  explicit operator bool() const { return kind != NONE; }
};

} // namespace pretok
