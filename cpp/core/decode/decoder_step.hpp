// The decoders of Hugging Face's library tokenizers, as data. bpe/decoders/steps.py has a class
// for each kind.
#pragma once

#include "core/normalize/normalizer_step.hpp"

#include <cstdint>
#include <string>

namespace pretok {

struct DecoderStep {
  // The values up to SENTENCEPIECE are those of .pretok files (bpe/formats/pretok_steps.py).
  enum class Kind : std::uint8_t {
    BYTE_LEVEL,
    BYTE_FALLBACK,
    FUSE,
    STRIP,
    REPLACE,
    METASPACE,
    BPE,
    WORD_PIECE,
    CTC,
    SPACES,        // a space between tokens, as without a decoder
    SENTENCEPIECE, // only in a file; TokenizerSpec::decoding holds it
    REPLACE_REGEX, // a REPLACE with a regex
    COUNT
  };

  Kind kind = Kind::FUSE;
  // STRIP: the character; METASPACE: the mark; BPE: the suffix; WORD_PIECE: the prefix; CTC:
  // the pad token.
  std::string text;
  std::string delimiter;   // CTC: the word delimiter token
  std::uint32_t start = 0; // STRIP: the maximum number of characters to strip at the start
  std::uint32_t stop = 0;  // STRIP: the same at the end
  bool cleanup = false;    // WORD_PIECE, CTC
  // METASPACE: whether the marks of the first token are removed, not replaced by spaces.
  bool removes_first = false;
  Replacement replacement; // REPLACE, REPLACE_REGEX
};

} // namespace pretok
