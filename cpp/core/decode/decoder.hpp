// Ids to text: the way back from Tokenizer.
//
//   - Byte-level models join the bytes of tokens.
//   - SentencePieceDecoding decodes as SentencePiece does.
//   - Most files of tokenizers list decoders, which change the texts of tokens one after the
//     other (decoder_step.hpp).
//
// Most ids need no more than to join one text per token (joined_texts.hpp). A DecodeStream
// decodes all ids, but in more time: by JoinRules too, or else by the flows of all decoders.
#pragma once

#include "core/base/made_at_first_use.hpp"
#include "core/bpe/token_view.hpp"
#include "core/decode/decoder_flow.hpp"
#include "core/decode/joined_texts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// SentencePiece's way to decode. bpe.decoders.steps.SentencePieceDecoding explains the members.
struct SentencePieceDecoding {
  bool strips_space = false;
  bool strips_spaces = false;
  std::string unknown_surface;
  std::vector<std::uint32_t> invisible; // ids; not set in a file
};

// The parts of a Decoder. All vectors but `steps` are by id.
struct DecoderParts {
  std::vector<std::uint8_t> flags; // those of IdFlag
  std::vector<std::string_view> tokens;
  // The text of each token, which `steps` change. If it is empty, the texts are `tokens`.
  std::vector<std::string_view> texts;
  std::vector<DecoderStep> steps; // empty: the texts are joined
  // For SentencePiece, which has no steps. JoinRules explains the members.
  bool is_sentencepiece = false;
  bool strips_space = false;
  bool strips_spaces = false;
};

// Threads may share a Decoder.
class Decoder {
public:
  explicit Decoder(DecoderParts &&parts);

  // Returns the bytes of a token. `bytes` of the result is nullptr if no token has this id.
  TokenView token(std::uint32_t id) const {
    return !has(id, IdFlag::TOKEN) ? TokenView{}
           : tokens_.size() != 0   ? tokens_[id]
                                   : own_.texts[id];
  }
  bool is_special(std::uint32_t id) const { return has(id, IdFlag::SPECIAL); }
  bool is_fallback(std::uint32_t id) const { return has(id, IdFlag::FALLBACK); }

  // Returns the rules to join texts; nullptr if only a DecodeStream can decode.
  const JoinRules *join_rules() const;
  // Returns whether the texts to join are the bytes of tokens. They need not be UTF-8.
  bool joins_bytes() const { return rules_.empty() && !is_sentencepiece(); }

  // Texts that a DecodeStream appends as they are while it is idle, and then it stays idle.
  struct WholeTexts {
    TokenTexts::View texts;
    std::vector<std::uint8_t> is_whole;   // by id: whether the stream does so with this text
    std::vector<std::uint8_t> is_skipped; // by id: whether `skip_special` omits the token
  };
  // Returns nullptr if there are no such texts.
  const WholeTexts *whole_texts() const;

  // Returns the texts that tokens have in the middle of a decoded text, by id.
  const TokenTexts &rendered() const;
  bool is_sentencepiece() const { return own_.only_spaced; }

  // Returns the text of the ids, each of which must have a token. If `keeps_invalid`, invalid
  // UTF-8 is kept; if not, it becomes U+FFFD.
  std::string decode(const std::uint32_t *ids, std::size_t count, bool skip_special,
                     bool keeps_invalid) const;

private:
  friend class DecodeStream;

  bool has(std::uint32_t id, std::uint8_t flag) const {
    return id < own_.flags.size() && (own_.flags[id] & flag) != 0;
  }
  JoinRules changed_texts() const;
  TokenTexts rendered_texts() const;

  TokenTexts tokens_; // empty if own_.texts are the tokens
  JoinRules own_;     // the texts before the steps
  std::vector<DecoderRule> rules_;
  bool can_join_;
  MadeAtFirstUse<JoinRules> changed_; // only if there are steps
  MadeAtFirstUse<WholeTexts> whole_;
  MadeAtFirstUse<TokenTexts> rendered_; // only if there are steps
};

} // namespace pretok
