// Ids to text: the way back from Tokenizer.
//
//   - Byte-level models join the bytes of tokens.
//   - Models that merge characters join the texts of tokens (text_tokens.hpp).
//   - Some files of tokenizers list decoders, which change the texts of tokens one after the
//     other (decoder_chain.hpp).
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "core/decode/decoder_chain.hpp"
#include "core/decode/held_text.hpp"
#include "core/decode/text_tokens.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// Threads may share a Decoder.
class Decoder {
public:
  // `vocabulary` must outlive the Decoder. `texts` are set if the tokens are text. If `chain`
  // is set, it decodes in place of both. `special` and `fallback` are by id, and may be shorter
  // than the vocabulary: whether a token is special, and whether it stands for one byte, such
  // as <0x0A>. `texts` know their fallback tokens.
  Decoder(const Vocabulary &vocabulary, std::optional<TextTokens> texts,
          std::optional<DecoderChain> chain, std::vector<bool> special,
          std::vector<bool> fallback)
      : vocabulary_(&vocabulary), texts_(std::move(texts)), chain_(std::move(chain)),
        special_(std::move(special)), fallback_(std::move(fallback)) {}

  // Returns the bytes of a token. `bytes` of the result is nullptr if no token has this id.
  TokenView token(std::uint32_t id) const {
    return texts_ ? texts_->token(id).bytes : vocabulary_->token(id);
  }
  bool is_special(std::uint32_t id) const { return id < special_.size() && special_[id]; }
  bool is_fallback(std::uint32_t id) const {
    return texts_ ? texts_->token(id).kind == TextTokens::Kind::FALLBACK
                  : id < fallback_.size() && fallback_[id];
  }
  // Returns whether the model merges characters.
  bool has_texts() const { return texts_.has_value(); }
  const std::optional<DecoderChain> &chain() const { return chain_; }

  // Calls emit(text) with the text of each id that is not skipped, in order. There must be no
  // chain, and each id must have a token. Strips the spaces at the start of the first texts, if
  // the model asks for it. Keeps invalid UTF-8.
  template <typename Emit>
  void for_texts(const std::uint32_t *ids, std::size_t count, bool skip_special,
                 Emit emit) const {
    const auto is_skipped = [&](std::uint32_t id) { return skip_special && is_special(id); };
    if (!texts_) {
      for (std::size_t i = 0; i < count; ++i)
        if (!is_skipped(ids[i]))
          emit(vocabulary_->token(ids[i]));
      return;
    }
    StartStripper start(texts_->decoding());
    for (std::size_t i = 0; i < count; ++i)
      if (!is_skipped(ids[i])) {
        const TextTokens::Token &token = texts_->token(ids[i]);
        emit(start.strip(token.kind, token.text));
      }
  }

private:
  friend class DecodeStream;

  const Vocabulary *vocabulary_;
  std::optional<TextTokens> texts_;
  std::optional<DecoderChain> chain_;
  std::vector<bool> special_;
  std::vector<bool> fallback_;
};

// Decodes a stream of ids to UTF-8. A copy takes constant time; after this, only the copy or
// the original may be used.
class DecodeStream {
public:
  DecodeStream(const Decoder &decoder, bool skip_special);

  // Appends the text that the ids complete. Each id must have a token.
  void feed(const std::uint32_t *ids, std::size_t count, std::string &text);
  // Appends the text that is held back. An incomplete sequence of UTF-8 becomes one U+FFFD, or
  // one per byte if the tokens are text.
  void finish(std::string &text);

private:
  void add(const TextTokens::Token &token, std::string &text);
  void finish_run(std::string &text);
  void append(TextTokens::Kind kind, TokenView more, std::string &text);

  const Decoder *decoder_;
  bool skip_special_;
  HeldText held_;                      // an incomplete sequence, or a run of fallback bytes
  std::optional<StartStripper> start_; // set if the tokens are text
  std::optional<DecoderFlows> flows_;  // set if the model has a DecoderChain
};

} // namespace pretok
