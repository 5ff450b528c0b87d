// Decodes a stream of ids to UTF-8.
#include "capi/check_ids.hpp"

#include <string>
#include <utility>

using namespace pretok;

struct pretok_decode_stream {
  const pretok_tokenizer *tokenizer;
  DecodeStream decoder;
  bool finished = false;
  std::string text = {}; // the text that the last call returned
};

// Sets *text and *size to the text that work(decoder, text) appends. If it fails, the stream is
// unchanged.
template <typename Work>
static pretok_status return_text(pretok_decode_stream &stream, const char **text,
                                 std::size_t *size, Work work) {
  DecodeStream decoder(stream.decoder);
  std::string new_text;
  work(decoder, new_text);
  stream.decoder = std::move(decoder);
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
    *result = new pretok_decode_stream{tokenizer,
                                       DecodeStream(tokenizer->core->decoder(), skip_special)};
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
    if (const pretok_status status = check_ids(*stream->tokenizer, ids, count, error))
      return status;
    return return_text(*stream, text, size, [&](DecodeStream &decoder, std::string &new_text) {
      decoder.feed(ids, count, new_text);
    });
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
    const pretok_status status =
        return_text(*stream, text, size, [](DecodeStream &decoder, std::string &new_text) {
          decoder.finish(new_text);
        });
    stream->finished = true;
    return status;
  });
}

void pretok_decode_stream_free(pretok_decode_stream *freed) noexcept { delete freed; }
