// The tokens of a model that merges characters (its tokens are text), for decoding. (For
// encoding, such a model has a Vocabulary too. Its tokens have spaces in place of the mark
// "▁".)
#pragma once

#include "core/bpe/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// Describes how ids are decoded if the tokens are text. Each mark U+2581 in a token becomes a
// space. Each fallback token, such as <0x0A>, becomes a byte.
struct TextDecoding {
  // If true, ids are decoded as SentencePiece decodes them. Special tokens have no text. Each
  // invalid byte becomes U+FFFD. A space is stripped only from a token that begins with a mark.
  //
  // If false, ids are decoded as the decoders ByteFallback, Fuse and Strip of Hugging Face's
  // library tokenizers decode them. If a run of fallback tokens is not UTF-8, each token of the
  // run becomes U+FFFD. Spaces are stripped from the joined text.
  bool is_sentencepiece = false;
  std::uint32_t strips = 0; // the maximum number of spaces to strip at the start of the text
  // For SentencePiece: if a token is only the stripped space, the next token loses its space
  // too, and so on.
  bool strips_again = false;
  std::string unknown; // for SentencePiece: the text of the unknown token
};

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

  // `tokens` are by id. Their views are of the other two vectors.
  TextTokens(TextDecoding decoding, std::vector<Token> tokens, std::vector<std::uint8_t> bytes,
             std::vector<std::uint8_t> texts)
      : decoding_(std::move(decoding)), tokens_(std::move(tokens)), bytes_(std::move(bytes)),
        texts_(std::move(texts)) {}
  TextTokens(const TextTokens &) = delete;
  TextTokens &operator=(const TextTokens &) = delete;
  TextTokens(TextTokens &&) = default; // moves the memory that the views point to
  TextTokens &operator=(TextTokens &&) = default;

  const Token &token(std::uint32_t id) const {
    static constexpr Token NO_TOKEN{};
    return id < tokens_.size() ? tokens_[id] : NO_TOKEN;
  }
  const TextDecoding &decoding() const { return decoding_; }

private:
  TextDecoding decoding_;
  std::vector<Token> tokens_; // by id
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> texts_;
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
