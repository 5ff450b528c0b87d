// Decodes a stream of ids to UTF-8.
#include "capi/decode_ids.hpp"

#include <string>

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

// Appends `data` to `text` as UTF-8. Replaces ill-formed sequences as Unicode recommends, with
// one U+FFFD for each maximal subpart. Returns the start of an incomplete sequence at the end,
// or the size of `data`.
std::size_t append_whole_utf8(const std::string &data, std::string &text) {
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
      text.append(reinterpret_cast<const char *>(REPLACEMENT), sizeof REPLACEMENT);
    at += length;
  }
  return at;
}

} // namespace
} // namespace pretok

using namespace pretok;

struct pretok_decode_stream {
  const pretok_tokenizer *tokenizer;
  bool skip_special;
  bool finished = false;
  std::string held; // an incomplete sequence
  std::string text; // the text that the last call returned
};

pretok_status pretok_decode_stream_new(const pretok_tokenizer *tokenizer, bool skip_special,
                                       pretok_decode_stream **result,
                                       pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{tokenizer, "the tokenizer"}, {result, "result"}}))
    return status;
  return guarded(error, [&] {
    *result = new pretok_decode_stream{tokenizer, skip_special, false, {}, {}};
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
    std::size_t added = 0;
    if (const pretok_status status =
            measure_ids(*stream->tokenizer, ids, count, stream->skip_special, added, error))
      return status;
    std::string data;
    data.reserve(stream->held.size() + added);
    data = stream->held;
    data.resize(stream->held.size() + added);
    write_ids(*stream->tokenizer, ids, count, stream->skip_special,
              data.data() + stream->held.size());
    std::string new_text;
    const std::size_t done = append_whole_utf8(data, new_text);
    data.erase(0, done);
    // Nothing below fails, so an error leaves the stream unchanged.
    stream->held.swap(data);
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
    if (!stream->held.empty())
      new_text.assign(reinterpret_cast<const char *>(REPLACEMENT), sizeof REPLACEMENT);
    stream->text.swap(new_text);
    stream->held.clear();
    stream->finished = true;
    *text = stream->text.data();
    *size = stream->text.size();
    return PRETOK_OK;
  });
}

void pretok_decode_stream_free(pretok_decode_stream *freed) noexcept { delete freed; }
