// Decodes a stream of ids to UTF-8.
#include "capi/check_ids.hpp"
#include "capi/options.hpp"
#include "core/decode/text_stream.hpp"
#include "core/unicode/utf8.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace pretok;

static_assert(PRETOK_NO_STOP == StopStrings::NONE);

struct pretok_decode_stream {
  const pretok_tokenizer *tokenizer;
  TextStream stream;
  bool finished = false;
  std::string text = {}; // the text that the last call returned
};

static pretok_status read_stop(const pretok_decode_options &options,
                               std::shared_ptr<const StopStrings> &stop, pretok_error *error) {
  if (options.stop_count == 0)
    return PRETOK_OK;
  if (const pretok_status status = check(
          error, {{options.stop, "options.stop"}, {options.stop_sizes, "options.stop_sizes"}}))
    return status;
  std::vector<std::string_view> strings;
  std::size_t total = 0;
  for (std::size_t i = 0; i < options.stop_count; ++i) {
    if (options.stop[i] == nullptr)
      return missing(error, "a string of options.stop");
    const std::string_view text(options.stop[i], options.stop_sizes[i]);
    if (text.empty() || text.size() > StopStrings::MAX_BYTES - total || !is_utf8(text))
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "options.stop[%zu] is empty, not UTF-8, or too long; expected text of 1 to "
                  "%zu bytes, for all stop strings together",
                  i, StopStrings::MAX_BYTES);
    total += text.size();
    strings.push_back(text);
  }
  stop = std::make_shared<const StopStrings>(strings);
  return PRETOK_OK;
}

pretok_status pretok_decode_stream_new(const pretok_tokenizer *tokenizer, bool skip_special,
                                       pretok_decode_stream **result,
                                       pretok_error *error) noexcept {
  pretok_decode_options options{};
  options.struct_size = sizeof options;
  options.skip_special = skip_special;
  return pretok_decode_stream_with(tokenizer, &options, result, error);
}

pretok_status pretok_decode_stream_with(const pretok_tokenizer *tokenizer,
                                        const pretok_decode_options *caller_options,
                                        pretok_decode_stream **result,
                                        pretok_error *error) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}, {result, "result"}}, [&] {
    pretok_decode_options own{};
    if (const pretok_status status = read_options(caller_options, own, error))
      return status;
    TextStreamOptions options{own.skip_special, own.continuation, own.clean_up, nullptr};
    if (const pretok_status status = read_stop(own, options.stop, error))
      return status;
    *result = new pretok_decode_stream{
        tokenizer, TextStream(tokenizer->core->decoder(), std::move(options))};
    return PRETOK_OK;
  });
}

pretok_status pretok_decode_stream_clone(const pretok_decode_stream *stream,
                                         pretok_decode_stream **result,
                                         pretok_error *error) noexcept {
  return guarded(error, {{stream, "the stream"}, {result, "result"}}, [&] {
    *result =
        new pretok_decode_stream{stream->tokenizer, stream->stream.clone(), stream->finished};
    return PRETOK_OK;
  });
}

static pretok_status check_open(const pretok_decode_stream &stream, pretok_error *error) {
  if (stream.finished)
    return fail(error, PRETOK_FINISHED, "the stream is finished; reset it, or make a new one");
  return PRETOK_OK;
}

pretok_status pretok_decode_stream_feed(pretok_decode_stream *stream, const uint32_t *ids,
                                        size_t count, const char **text, size_t *size,
                                        pretok_error *error) noexcept {
  const bool has_all =
      stream != nullptr && text != nullptr && size != nullptr && (ids != nullptr || count == 0);
  if (const pretok_status status = has_all ? PRETOK_OK
                                           : check(error, {{stream, "the stream"},
                                                           {ids, "ids", count != 0},
                                                           {text, "text"},
                                                           {size, "size"}}))
    return status;
  if (const pretok_status status = check_open(*stream, error))
    return status;
  return guarded(error, [&] {
    stream->text.clear();
    std::string_view result;
    if (count != 1 || !stream->stream.feed_one(*ids, stream->text, result)) {
      if (stream->stream.stopped() != StopStrings::NONE)
        return fail(error, PRETOK_FINISHED,
                    "a stop string has ended the text; rewind or reset the stream");
      if (const pretok_status status = check_ids(*stream->tokenizer, ids, count, error))
        return status;
      stream->stream.feed(ids, count, stream->text);
      result = stream->text;
    }
    *text = result.data();
    *size = result.size();
    return PRETOK_OK;
  });
}

pretok_status pretok_decode_stream_finish(pretok_decode_stream *stream, const char **text,
                                          size_t *size, pretok_error *error) noexcept {
  return guarded(error, {{stream, "the stream"}, {text, "text"}, {size, "size"}}, [&] {
    if (const pretok_status status = check_open(*stream, error))
      return status;
    stream->text.clear();
    stream->stream.finish(stream->text);
    stream->finished = true;
    *text = stream->text.data();
    *size = stream->text.size();
    return PRETOK_OK;
  });
}

pretok_status pretok_decode_stream_reset(pretok_decode_stream *stream,
                                         pretok_error *error) noexcept {
  return guarded(error, {{stream, "the stream"}}, [&] {
    stream->stream.reset();
    stream->finished = false;
    return PRETOK_OK;
  });
}

pretok_status pretok_decode_stream_rewind(pretok_decode_stream *stream, size_t count,
                                          size_t *removed, pretok_error *error) noexcept {
  return guarded(error, {{stream, "the stream"}, {removed, "removed"}}, [&] {
    if (const pretok_status status = check_open(*stream, error))
      return status;
    if (count > stream->stream.size())
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "count is %zu, but the stream has %zu ids; expected at most that many", count,
                  stream->stream.size());
    *removed = static_cast<std::size_t>(stream->stream.rewind(count));
    return PRETOK_OK;
  });
}

size_t pretok_decode_stream_stopped(const pretok_decode_stream *stream) noexcept {
  return stream != nullptr ? stream->stream.stopped() : PRETOK_NO_STOP;
}

size_t pretok_decode_stream_size(const pretok_decode_stream *stream) noexcept {
  return stream != nullptr ? stream->stream.size() : 0;
}

void pretok_decode_stream_free(pretok_decode_stream *freed) noexcept { delete freed; }
