// The normalizers of Hugging Face's library tokenizers, as data. bpe/normalizers/steps.py has a
// class for each kind.
#pragma once

#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pretok {

// A pre-tokenizer as data.
struct SplitSpec {
  std::vector<StageProgram> stages;
  UnicodeTable table{};
};

// Replaces the matches of a pattern by `content`. The pattern is the text `pattern`, or, if
// `regex` is set, a stage whose rules match it.
struct Replacement {
  std::string pattern;
  std::string content;
  std::optional<SplitSpec> regex;
};

struct NormalizerStep {
  // The values up to SENTENCEPIECE are those of .pretok files (bpe/formats/pretok_steps.py).
  enum class Kind : std::uint8_t {
    NFC,
    NFD,
    NFKC,
    NFKD,
    LOWERCASE,
    STRIP_ACCENTS,
    NMT,
    BYTE_LEVEL,
    STRIP,
    BERT,
    PREPEND,
    REPLACE,
    PRECOMPILED,
    SENTENCEPIECE, // only in a file; TokenizerSpec::sentencepiece holds it
    REPLACE_REGEX, // a REPLACE with a regex
    COUNT
  };
  // Bits of `options`, for STRIP and for BERT.
  enum : std::uint32_t {
    STRIP_LEFT = 1,
    STRIP_RIGHT = 2,
    CLEAN_TEXT = 1,
    CHINESE = 2,
    LOWER = 4,
    ACCENTS = 8,          // remove accents
    ACCENTS_AS_LOWER = 16 // remove accents if LOWER is set
  };

  Kind kind = Kind::NFC;
  std::uint32_t options = 0;
  Replacement replacement;            // for REPLACE, REPLACE_REGEX; PREPEND: only `content`
  std::vector<std::uint8_t> charsmap; // for PRECOMPILED
  std::size_t charsmap_growth = 1;    // Charsmap::max_growth()

  bool strips_accents() const {
    return (options & (options & ACCENTS_AS_LOWER ? LOWER : ACCENTS)) != 0;
  }
};

// The pre-tokenizer Metaspace, which changes text after the search for normalized added tokens.
// MetaspaceStep of bpe/normalizers/chain.py does the same.
struct MetaspaceSpec {
  enum class Prepend : std::uint8_t { ALWAYS, FIRST, NEVER };

  std::string replacement;
  Prepend prepend = Prepend::ALWAYS;
  std::optional<SplitSpec>
      before; // splits text into pieces, each of which is changed by itself
};

} // namespace pretok
