// Decodes a stream of ids to UTF-8.
#include "capi/decode_ids.hpp"
#include "formats/load_error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pretok {
namespace {

// The valid range of the next byte of a UTF-8 sequence.
struct NextByte {
  std::uint8_t first;
  std::uint8_t last;

  bool has(std::uint8_t byte) const { return byte >= first && byte <= last; }
};

constexpr std::uint8_t REPLACEMENT[] = {0xEF, 0xBF, 0xBD}; // U+FFFD

// Returns the size of a sequence with this first byte, or 0 if no sequence starts with it.
std::size_t sequence_size(std::uint8_t lead) {
  return lead < 0x80   ? 1
         : lead < 0xC2 ? 0
         : lead < 0xE0 ? 2
         : lead < 0xF0 ? 3
         : lead < 0xF5 ? 4
                       : 0;
}

// Returns the range of the second byte. All bytes after it range from 0x80 to 0xBF.
NextByte second_byte(std::uint8_t lead) {
  const std::uint8_t first = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t last = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return {first, last};
}

void append_replacements(std::size_t count, std::string &text) {
  for (; count != 0; --count)
    text.append(reinterpret_cast<const char *>(REPLACEMENT), sizeof REPLACEMENT);
}

// Appends `data` to `text` as UTF-8. Replaces ill-formed sequences as Unicode recommends, with
// one U+FFFD for each maximal subpart, or for each of its bytes if `each_byte`. Returns the
// start of an incomplete sequence at the end, or the size of `data`.
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

// Bytes that are not decoded yet: those that the stream held before the call, and later ones.
// The bytes from before are copied only when they are decoded, so a call takes no time for
// them.
class HeldBytes {
public:
  explicit HeldBytes(const std::string &before) : before_(&before) {}

  void append(TokenView more) {
    more_.append(reinterpret_cast<const char *>(more.bytes), more.size);
  }

  // Returns all bytes, and holds none.
  std::string take() {
    std::string all = before_ != nullptr ? *before_ + more_ : std::move(more_);
    before_ = nullptr;
    more_.clear();
    return all;
  }

  // Decodes all complete sequences; see append_whole_utf8.
  void decode(bool each_byte, std::string &text) {
    std::string all = take();
    all.erase(0, append_whole_utf8(all, each_byte, text));
    more_ = std::move(all);
  }

  // Makes `held`, the bytes from before, all bytes that are held now. An exception leaves
  // `held` unchanged.
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

  // Appends the text of a token. `held` has the fallback bytes before it that are not decoded.
  void add(const TextTokens::Token &token, HeldBytes &held, std::string &text) {
    if (token.kind != TextTokens::Kind::FALLBACK) {
      finish(held.take(), text);
      append(token.kind, {reinterpret_cast<const char *>(token.text.bytes), token.text.size},
             text);
      return;
    }
    held.append(token.text);
    if (decoding_->is_sentencepiece) {
      start_.strip(token.kind, token.text); // no space is stripped from here on
      held.decode(true, text);
    }
  }

  // Appends the text of the fallback bytes that are left.
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
    // An incomplete sequence becomes one U+FFFD.
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
