// The tokens of a model that merges characters (its tokens are text), for decoding. (For
// encoding, such a model has a Vocabulary too. Its tokens have spaces in place of the mark
// "▁".)
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
    // The token itself, or the byte of a fallback token. bytes.bytes is nullptr if no token has
    // the id.
    TokenView bytes;
    TokenView text;         // the text that the token decodes to
    Kind kind = Kind::NONE; // SPACED: the token begins with a mark; FALLBACK: one byte
  };

  // spec.vocabulary must contain all added tokens. The first `file_added` added tokens are
  // those of the file; the rest come from the load options. If ids are decoded as SentencePiece
  // decodes them, special tokens of the file have no text.
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

  // Returns `text` without the spaces to strip. `text` is the text of the next token, or of a
  // run of fallback tokens. For SentencePiece, only the first token that has text can lose a
  // space, and only if it begins with a mark. If it loses all its text and
  // decoding.strips_again is true, the next token can lose a space too. All other models lose
  // up to `strips` spaces, from several tokens if need be, until another character occurs.
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
  std::uint32_t left_; // the number of spaces that may still be stripped
};

} // namespace pretok
