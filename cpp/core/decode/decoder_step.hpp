// The decoders of Hugging Face's library tokenizers, as data. bpe/decoders/steps.py has a class
// for each type. To add a type, add a row to the table in decoder_step.cpp.
#pragma once

#include "core/normalize/step_fields.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pretok {

class Growth;
struct DecoderType;

// A decoder has the members that its type visits. All others have no effect.
struct DecoderStep {
  using Type = DecoderType;

  const Type *type = nullptr;
  // Strip: the character; Metaspace: the mark; BPEDecoder: the suffix; WordPiece: the prefix;
  // CTC: the pad token; SentencePieceDecoding: the text of the unknown token.
  std::string text;
  std::string delimiter;   // CTC: the word delimiter token
  std::uint32_t start = 0; // Strip: the maximum number of characters to strip at the start
  std::uint32_t stop = 0;  // Strip: the same at the end
  bool cleanup = false;    // WordPiece, CTC
  PrependScheme scheme = PrependScheme::ALWAYS; // Metaspace
  Replacement replacement;                      // Replace
  bool strips_space = false;                    // SentencePieceDecoding
  bool strips_spaces = false;

  bool is(std::string_view name) const;
};

class DecoderFlow;
struct DecoderRule;
enum class Invalid;
enum class TokenPlace { FIRST, REST, LAST };

struct DecoderType {
  const char *name; // in a tokenizer.json
  void (*visit)(DecoderStep &step, StepFields &fields);
  // Adds to `growth` how much the step grows a token. nullptr if it grows none.
  void (*grow)(const DecoderStep &step, Growth &growth);
  // Returns a token as a step changes it that treats tokens one by one. nullptr for all others.
  std::string (*change)(const DecoderRule &rule, TokenPlace place, std::string_view token);
  // Returns a new flow. If `in_parts`, the flow takes the parts of one token. nullptr for
  // SentencePieceDecoding, which stands alone, and only in .pretok files.
  std::unique_ptr<DecoderFlow> (*make_flow)(const DecoderRule &rule, Invalid invalid,
                                            bool in_parts);
  bool joins_tokens = false; // the flow returns the parts of one token
};

extern const StepTypes<DecoderStep> DECODER_TYPES;

// Returns the byte of a token such as <0x0A>. Hugging Face's tokenizers also takes <0x0a> and
// <0x+A>.
std::optional<char> byte_of_token(std::string_view token);

inline bool DecoderStep::is(std::string_view name) const {
  return type != nullptr && type->name == name;
}

} // namespace pretok
