// The tokens of a model that merges characters, for decoding. The Vocabulary of such a model
// has the bytes to merge, in which spaces replace the mark "▁".
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class TextTokens {
public:
  enum class Kind : std::uint8_t { NONE, TEXT, SPACED, FALLBACK };

  struct Token {
    TokenView bytes;        // the token itself; bytes == nullptr: there is none
    TokenView text;         // what it decodes to
    Kind kind = Kind::NONE; // SPACED: the token begins with a mark; FALLBACK: one byte
  };

  // The vocabulary of `spec` has all added tokens. Special tokens among the first `file_added`
  // added tokens have no text if ids are decoded as SentencePiece does.
  TextTokens(const TokenizerSpec &spec, std::size_t file_added);
  TextTokens(const TextTokens &) = delete;
  TextTokens &operator=(const TextTokens &) = delete;

  const Token &token(std::uint32_t id) const {
    static constexpr Token NO_TOKEN{};
    return id < tokens_.size() ? tokens_[id] : NO_TOKEN;
  }
  const TextDecoding &decoding() const { return decoding_; }

private:
  TextDecoding decoding_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> texts_;
  std::vector<Token> tokens_; // by id
};

// Strips the spaces at the start of a text, token by token.
class StartStripper {
public:
  explicit StartStripper(const TextDecoding &decoding)
      : decoding_(&decoding), left_(decoding.strips) {}

  // Returns the text of the next token, or of decoded fallback tokens, without the spaces.
  TokenView strip(TextTokens::Kind kind, TokenView text) {
    if (left_ == 0 || text.size == 0)
      return text;
    if (!decoding_->is_sentencepiece) {
      for (; left_ != 0 && text.size != 0; --left_, ++text.bytes, --text.size)
        if (*text.bytes != ' ') {
          left_ = 0;
          return text;
        }
      return text;
    }
    left_ = 0;
    if (kind == TextTokens::Kind::SPACED) {
      ++text.bytes;
      --text.size;
      left_ = text.size == 0 && decoding_->strips_again ? 1 : 0;
    }
    return text;
  }

private:
  const TextDecoding *decoding_;
  std::uint32_t left_;
};

} // namespace pretok
