// The parts of a tokenizer, independent of any file format. bpe/formats/spec.py has the same
// struct in Python.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/encode/added.hpp"
#include "core/encode/text_spaces.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pretok {

// Describes the decoding of ids if the tokens are text. Each mark U+2581 in a token becomes a
// space, and the fallback tokens, such as <0x0A>, become bytes.
struct TextDecoding {
  // If true, ids are decoded as by SentencePiece: special tokens have no text, each invalid
  // byte becomes U+FFFD, and a space is stripped only from a token that begins with a mark. If
  // false, the decoders of tokenizers are ByteFallback, Fuse and Strip: if adjacent fallback
  // tokens are not UTF-8, each of them becomes U+FFFD, and spaces are stripped from the text.
  bool is_sentencepiece = false;
  std::uint32_t strips = 0;  // the maximum number of spaces to strip at the start of the text
  bool strips_again = false; // SentencePiece: also from the next token, until one has text
  std::string unknown;       // SentencePiece: the text of the unknown token
};

// A model that merges characters (character_model.hpp). Its tokens are text.
struct CharacterSpec {
  TextSpaces spaces;
  bool is_normalizer = false;   // whether normalized added tokens are found after `spaces`
  bool splits_at_marks = false; // whether text is split before each mark
  std::uint32_t unknown_id = NO_ID;
  TextDecoding decoding;
};

struct TokenizerSpec {
  VocabularyData vocabulary;
  std::optional<CharacterSpec> characters; // if set, the tokens of `vocabulary` are UTF-8
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
