// The parts of a tokenizer, independent of any file format. bpe/formats/spec.py has the same
// struct in Python.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/decode/decoder.hpp"
#include "core/encode/added.hpp"
#include "core/encode/text_spaces.hpp"
#include "core/encode/token_facts.hpp"
#include "core/normalize/normalizer_step.hpp"
#include "core/normalize/sentencepiece_normalizer.hpp"
#include "core/split/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pretok {

// A normalizer of SentencePiece that makes a normalized copy of each text. Its user-defined
// symbols are the normalized added tokens.
struct SentencePieceSpec {
  SentencePieceNormalizer::Options options{};
  std::vector<std::uint8_t> charsmap;

  // Returns whether TextSpaces have the same effect, which need no copy. The user-defined
  // symbols must be plain (is_plain).
  bool is_spaces() const {
    return charsmap.empty() && !options.remove_extra_whitespaces &&
           options.escape_whitespaces && !options.treat_whitespace_as_suffix;
  }
};

// How a model whose tokens are text changes spaces, like SentencePiece does.
struct CharacterSpec {
  TextSpaces spaces; // without effect if TokenizerSettings::sentencepiece is set
  // If true, `spaces` are a normalizer: normalized added tokens are searched for after `spaces`
  // have changed the text.
  bool is_normalizer = false;
  bool splits_at_marks = false; // whether text is split before each mark
};

// A model whose tokens are text, and which merges characters (character_model.hpp).
struct TextSpec {
  // A character without a token becomes the fallback tokens of its bytes, if has_fallback and
  // all of them exist. Otherwise it becomes the unknown token, or is dropped if there is none.
  std::uint32_t unknown_id = NO_ID;
  bool fuses_unknown = false; // adjacent unknown characters become one token
  bool has_fallback = false;
  bool byte_level = false; // the characters of tokens stand for bytes
  // Characters are looked up with `prefix` before each character but the first of a pre-token,
  // and with `suffix` after the last.
  std::string prefix;
  std::string suffix;
};

// Says whether a model splits text only before each mark (YES), not at all (NO), or otherwise.
enum class SplitAtMarks { OTHER, YES, NO };

// The maximum number of ids of a template. A small file could otherwise name a long list of ids
// many times. Published templates have four ids or fewer.
inline constexpr std::size_t MAX_TEMPLATE_IDS = 256;

// An id that a file gives to an added token, although the token has another id.
struct IgnoredId {
  std::size_t index; // of the token in TokenizerSpec::added
  std::uint32_t id;
};

// All parts of a tokenizer but its tokens and merges.
struct TokenizerSettings {
  std::optional<TextSpec> text; // if set, the tokens of `vocabulary` are UTF-8
  // Only with `text`, whose prefix and suffix are then "", and which is not byte_level. If not
  // set, the text is not changed for the encoder, so spaces are spaces.
  std::optional<CharacterSpec> characters;
  std::vector<AddedToken> added;
  std::vector<IgnoredId> ignored_ids; // of a tokenizer.json
  std::string preset;                 // the name of a built-in preset, or ""
  std::string why_no_preset;          // for an error message: why the file gives no preset
  std::vector<std::uint32_t> program; // of a custom pre-tokenizer, for read_stages; or empty
  // Or the custom pre-tokenizer, in place of `preset` and `program`. If `unicode` is "", it
  // depends on no Unicode version.
  std::vector<StageProgram> stages;
  SplitAtMarks split_at_marks = SplitAtMarks::OTHER; // what `stages` do to text without spaces
  std::string unicode; // the Unicode version; "" means that of the preset
  bool nfc = false;    // normalize text to NFC
  // A normalizer other than NFC. With `sentencepiece`, there are no steps.
  std::vector<NormalizerStep> steps;
  std::optional<MetaspaceSpec> metaspace;
  // The normalizer of SentencePiece. With it, `characters` has is_normalizer.
  std::optional<SentencePieceSpec> sentencepiece;
  // At most one is set. If none is, decoding joins the bytes of tokens.
  std::optional<SentencePieceDecoding> decoding;
  std::optional<std::vector<DecoderStep>> decoder;
  bool add_prefix_space = false;
  // The template: the ids that add_special_tokens puts before and after a text,
  // MAX_TEMPLATE_IDS together.
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> after;
  // No call in C++ applies these members of a tokenizer.json: the JSON of its truncation and
  // padding, or "", and `add_prefix_space` of each post_processor that trims offsets.
  std::string truncation;
  std::string padding;
  std::vector<bool> trims;
  TokenFacts facts;
};

struct TokenizerSpec : TokenizerSettings {
  VocabularyData vocabulary;
  // If not empty, the merges follow from the scores (piece_merges.hpp), and vocabulary.merges
  // is empty. By token of `vocabulary`, its score, or NaN if no merge makes the token.
  std::vector<float> scores;
};

} // namespace pretok
