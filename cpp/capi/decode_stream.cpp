// Decodes a stream of ids to UTF-8.
#include "capi/decode_ids.hpp"
#include "formats/load_error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pretok {
namespace {

// The range of valid values of the next byte of a UTF-8 sequence, including both ends.
struct NextByte {
  std::uint8_t first;
  std::uint8_t last;

  bool has(std::uint8_t byte) const { return byte >= first && byte <= last; }
};

constexpr std::uint8_t REPLACEMENT[] = {0xEF, 0xBF, 0xBD}; // U+FFFD

// Returns the size of a UTF-8 sequence with the first byte `lead`. Returns 0 if no sequence
// starts with this byte.
std::size_t sequence_size(std::uint8_t lead) {
  return lead < 0x80   ? 1
         : lead < 0xC2 ? 0
         : lead < 0xE0 ? 2
         : lead < 0xF0 ? 3
         : lead < 0xF5 ? 4
                       : 0;
}

// Returns the range of the byte after `lead`. All later bytes range from 0x80 to 0xBF.
NextByte second_byte(std::uint8_t lead) {
  const std::uint8_t first = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t last = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return {first, last};
}

void append_replacements(std::size_t count, std::string &text) {
  for (; count != 0; --count)
    text.append(reinterpret_cast<const char *>(REPLACEMENT), sizeof REPLACEMENT);
}

// Appends `data` to `text`. Replaces ill-formed sequences: each maximal subpart (a term of the
// Unicode Standard) by one U+FFFD, or, if `each_byte`, each byte of such a subpart. Does not
// append an incomplete sequence at the end of `data`, and returns its start. If there is none,
// returns the size of `data`.
std::size_t append_whole_utf8(const std::string &data, bool each_byte, std::string &text) {
  std::size_t at = 0;
  while (at < data.size()) {
    const auto lead = static_cast<std::uint8_t>(data[at]);
    const std::size_t size = sequence_size(lead);
    std::size_t length = 1;
    NextByte next = second_byte(lead);
    while (length < size && at + length < data.size() &&
           next.has(static_cast<std::uint8_t>(data[at + length]))) {
      ++length;
      next = {0x80, 0xBF};
    }
    if (length < size && at + length == data.size())
      return at;
    if (length == size)
      text.append(data, at, length);
    else
      append_replacements(each_byte ? length : 1, text);
    at += length;
  }
  return at;
}

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
  void decode(bool each_byte, std::string &text) {
    std::string all = take();
    all.erase(0, append_whole_utf8(all, each_byte, text));
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
      held.decode(true, text);
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
  std::optional<TextDecoder> texts; // set if the tokens are text
  bool finished = false;
  std::string held; // an incomplete sequence, or fallback bytes
  std::string text; // the text that the last call returned
};

pretok_status pretok_decode_stream_new(const pretok_tokenizer *tokenizer, bool skip_special,
                                       pretok_decode_stream **result,
                                       pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{tokenizer, "the tokenizer"}, {result, "result"}}))
    return status;
  return guarded(error, [&] {
    std::optional<TextDecoder> texts;
    if (tokenizer->texts)
      texts.emplace(tokenizer->texts->decoding());
    *result = new pretok_decode_stream{tokenizer, skip_special, texts, false, {}, {}};
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
      held.decode(false, new_text);
    held.store(stream->held);
    // Nothing below fails, so an error leaves the stream unchanged.
    stream->texts = texts;
    stream->text.swap(new_text);
    *text = stream->text.data();
    *size = stream->text.size();
    return PRETOK_OK;
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
    if (stream->texts)
      stream->texts->finish(stream->held, new_text);
    else if (!stream->held.empty())
      append_replacements(1, new_text);
    stream->text.swap(new_text);
    stream->held.clear();
    stream->finished = true;
    *text = stream->text.data();
    *size = stream->text.size();
    return PRETOK_OK;
  });
}

void pretok_decode_stream_free(pretok_decode_stream *freed) noexcept { delete freed; }
