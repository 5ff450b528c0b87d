// Decodes a stream of ids to UTF-8.
#include "capi/decode_ids.hpp"
#include "capi/whole_utf8.hpp"
#include "formats/load_error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pretok {
namespace {

// The bytes that are not decoded yet: the old bytes, which the stream held before this call,
// and then new bytes. Old bytes are copied only when they are decoded, so a call that decodes
// nothing takes no time for old bytes.
class HeldBytes {
public:
  // `before` has the bytes that the stream held before this call.
  explicit HeldBytes(const std::string &before) : before_(&before) {}

  void append(TokenView more) {
    more_.append(reinterpret_cast<const char *>(more.bytes), more.size);
  }

  // Returns all held bytes. After this, no bytes are held.
  std::string take() {
    std::string all = before_ != nullptr ? *before_ + more_ : std::move(more_);
    before_ = nullptr;
    more_.clear();
    return all;
  }

  // Decodes all bytes but an incomplete sequence at their end, as append_whole_utf8 does.
  void decode(Invalid invalid, std::string &text) {
    std::string all = take();
    all.erase(0, append_whole_utf8(all, invalid, text));
    more_ = std::move(all);
  }

  // Stores all held bytes in `held`, the string that the constructor got. If this throws,
  // `held` is unchanged.
  void store(std::string &held) {
    if (before_ != nullptr)
      held.append(more_);
    else
      held.swap(more_);
  }

private:
  const std::string *before_; // nullptr after take()
  std::string more_;
};

// Decodes tokens that are text.
class TextDecoder {
public:
  explicit TextDecoder(const TextDecoding &decoding) : decoding_(&decoding), start_(decoding) {}

  // Appends the text of `token` to `text`. `held` has the fallback bytes before this token that
  // are not decoded yet.
  void add(const TextTokens::Token &token, HeldBytes &held, std::string &text) {
    if (token.kind != TextTokens::Kind::FALLBACK) {
      finish(held.take(), text);
      append(token.kind, {reinterpret_cast<const char *>(token.text.bytes), token.text.size},
             text);
      return;
    }
    held.append(token.text);
    if (decoding_->is_sentencepiece) {
      start_.strip(token.kind, token.text); // from here on, strip() removes no spaces
      held.decode(Invalid::MARK_PER_BYTE, text);
    }
  }

  // Appends the text of `held`, the fallback bytes before a token of text or at the end. If
  // they are not UTF-8, appends one U+FFFD per byte. For SentencePiece, `held` is empty or an
  // incomplete sequence, because add() has decoded all other bytes.
  void finish(const std::string &held, std::string &text) {
    if (!decoding_->is_sentencepiece && is_utf8(held)) {
      append(TextTokens::Kind::FALLBACK, held, text);
      return;
    }
    std::string replaced;
    append_replacements(held.size(), replaced);
    append(TextTokens::Kind::FALLBACK, replaced, text);
  }

private:
  // Appends `more`, the text of a token, without the spaces that are stripped.
  void append(TextTokens::Kind kind, std::string_view more, std::string &text) {
    const TokenView kept =
        start_.strip(kind, {reinterpret_cast<const std::uint8_t *>(more.data()),
                            static_cast<std::uint32_t>(more.size())});
    text.append(reinterpret_cast<const char *>(kept.bytes), kept.size);
  }

  const TextDecoding *decoding_;
  StartStripper start_;
};

} // namespace
} // namespace pretok

using namespace pretok;

struct pretok_decode_stream {
  const pretok_tokenizer *tokenizer;
  bool skip_special;
  std::optional<TextDecoder> texts;  // set if the tokens are text
  std::optional<DecoderFlows> flows; // set if the model has a DecoderChain, and not `texts`
  bool finished = false;
  std::string held; // an incomplete sequence, or fallback bytes
  std::string text; // the text that the last call returned
};

// Makes `new_text` the text of the last call. Nothing here fails.
static pretok_status return_text(pretok_decode_stream &stream, std::string &new_text,
                                 const char **text, std::size_t *size) {
  stream.text.swap(new_text);
  *text = stream.text.data();
  *size = stream.text.size();
  return PRETOK_OK;
}

pretok_status pretok_decode_stream_new(const pretok_tokenizer *tokenizer, bool skip_special,
                                       pretok_decode_stream **result,
                                       pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{tokenizer, "the tokenizer"}, {result, "result"}}))
    return status;
  return guarded(error, [&] {
    std::optional<TextDecoder> texts;
    std::optional<DecoderFlows> flows;
    if (tokenizer->decoder)
      flows.emplace(tokenizer->decoder->rules(), false);
    else if (tokenizer->texts)
      texts.emplace(tokenizer->texts->decoding());
    *result = new pretok_decode_stream{tokenizer, skip_special, texts, std::move(flows),
                                       false,     {},           {}};
    return PRETOK_OK;
  });
}

pretok_status pretok_decode_stream_feed(pretok_decode_stream *stream, const uint32_t *ids,
                                        size_t count, const char **text, size_t *size,
                                        pretok_error *error) noexcept {
  if (const pretok_status status = check(
          error,
          {{stream, "the stream"}, {ids, "ids", count != 0}, {text, "text"}, {size, "size"}}))
    return status;
  if (stream->finished)
    return fail(error, PRETOK_FINISHED, "the stream is finished; make a new one");
  return guarded(error, [&] {
    const pretok_tokenizer &tokenizer = *stream->tokenizer;
    if (const pretok_status status = check_ids(tokenizer, ids, count, error))
      return status;
    HeldBytes held(stream->held);
    std::string new_text;
    std::optional<DecoderFlows> flows;
    if (stream->flows) {
      flows.emplace(*stream->flows);
      tokenizer.decoder->feed(ids, count, stream->skip_special, *flows, new_text);
      stream->flows = std::move(flows);
      return return_text(*stream, new_text, text, size);
    }
    std::optional<TextDecoder> texts = stream->texts;
    for (std::size_t i = 0; i < count; ++i) {
      if (stream->skip_special && tokenizer.is_special(ids[i]))
        continue;
      if (texts)
        texts->add(tokenizer.texts->token(ids[i]), held, new_text);
      else
        held.append(tokenizer.vocabulary.token(ids[i]));
    }
    if (!texts)
      held.decode(Invalid::ONE_MARK, new_text);
    held.store(stream->held);
    // Nothing below fails, so an error leaves the stream unchanged.
    stream->texts = texts;
    return return_text(*stream, new_text, text, size);
  });
}

pretok_status pretok_decode_stream_finish(pretok_decode_stream *stream, const char **text,
                                          size_t *size, pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{stream, "the stream"}, {text, "text"}, {size, "size"}}))
    return status;
  if (stream->finished)
    return fail(error, PRETOK_FINISHED, "the stream is finished; make a new one");
  return guarded(error, [&] {
    // An incomplete sequence becomes one U+FFFD, or one per byte if the tokens are text.
    std::string new_text;
    if (stream->flows) // a failure must leave the stream unchanged
      DecoderFlows(*stream->flows).finish(new_text);
    else if (stream->texts)
      stream->texts->finish(stream->held, new_text);
    else if (!stream->held.empty())
      append_replacements(1, new_text);
    stream->held.clear();
    stream->finished = true;
    return return_text(*stream, new_text, text, size);
  });
}

void pretok_decode_stream_free(pretok_decode_stream *freed) noexcept { delete freed; }
