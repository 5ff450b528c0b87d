// The parts of a tokenizer, independent of any file format. bpe/formats/spec.py has the same
// struct in Python.
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
  std::vector<bool> added_special;    // of each added token: whether it is special
  std::string preset;                 // the name of a built-in preset, or ""
  std::string why_no_preset;          // the reason for an error message if `preset` is ""
  std::vector<std::uint32_t> program; // of a custom pre-tokenizer, for read_stages; or empty
  std::string unicode;                // the Unicode version; "" means that of the preset
  bool nfc = false;                   // normalize text to NFC
  bool add_prefix_space = false;
  std::vector<std::uint32_t> before; // ids that add_special_tokens puts before a text
  std::vector<std::uint32_t> after;  // ids that add_special_tokens puts after a text
};

// The result of loading a file: an error, or NONE.
struct LoadError {
  enum Kind { NONE, MALFORMED, UNSUPPORTED } kind = NONE;
  std::string message; // "expected X, got Y; do Z"

  explicit operator bool() const { return kind != NONE; }
};

} // namespace pretok
