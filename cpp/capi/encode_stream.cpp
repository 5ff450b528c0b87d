// Encoding a text that comes in chunks.
//
// What is held back begins where the text can be cut (safe_cut.hpp), so that it is a text by
// itself. When enough has come a place to cut it is looked for, near its end first; what is
// before that is encoded, and the rest is held back. If there is none, the next look comes only
// when twice as much is held, so that all looks together take linear time.
#include "encode_call.hpp"

#include "safe_cut.hpp"

#include <algorithm>
#include <vector>

namespace pretok {
namespace {

// So much more has to come before a cut is looked for again.
constexpr std::size_t WORTH_A_LOOK = 512;
// How far back from the end the first look goes; each other one goes so many times further.
constexpr std::size_t FIRST_WINDOW = 256;
constexpr std::size_t WIDER = 16;

// Returns where a text that goes on can be cut; 0 if no place was found.
std::size_t find_cut(const EncodeCall &call, const std::uint8_t *data, std::size_t size) {
  const AddedTokens &added = call.policy->all;
  const Encoder &encoder = *call.tokenizer->encoder;
  if (size <= added.longest())
    return 0;
  const std::size_t to = size - added.longest();
  const std::size_t margin = added.longest() + 4;
  for (std::size_t window = FIRST_WINDOW;; window *= WIDER) {
    const std::size_t from = window < to ? to - window : 0;
    const std::size_t first = from > margin ? from - margin : 0;
    const std::size_t cut =
        safe_cut_between(encoder.pre_tokenizer(), added, encoder.add_prefix_space(),
                         data + first, size - first, from - first, to - first);
    if (cut != 0)
      return first + cut;
    if (from == 0)
      return 0;
  }
}

} // namespace
} // namespace pretok

using namespace pretok;

struct pretok_encode_stream {
  EncodeCall call;
  bool begun = false; // what comes before the text was given out
  bool finished = false;
  std::vector<std::uint8_t> held;
  std::size_t position = 0;                // of what is held, in the whole text
  std::size_t worth_a_look = WORTH_A_LOOK; // when so much is held
  IdBuffer ids;                            // what was last given out

  pretok_status encode(std::size_t size, IdBuffer &made, pretok_error *error) {
    if (!begun && call.add_special_tokens)
      append_ids(made, call.tokenizer->before);
    if (size == 0)
      return PRETOK_OK;
    const CacheLease cache(call.tokenizer->encoder->caches());
    return call.encode(held.data(), size, position, *cache, made, error);
  }

  pretok_status feed(const std::uint8_t *chunk, std::size_t size, pretok_error *error) {
    if (const pretok_status status =
            call.check_bytes(chunk, size, position + held.size(), error))
      return status;
    const std::size_t before = held.size();
    held.insert(held.end(), chunk, chunk + size);
    // Unless all goes well, the stream is as before.
    struct Undo {
      std::vector<std::uint8_t> &held;
      std::size_t size;
      ~Undo() { held.resize(std::min(held.size(), size)); }
    } undo{held, before};
    const bool looks = held.size() >= worth_a_look;
    const std::size_t cut = looks ? find_cut(call, held.data(), held.size()) : 0;
    IdBuffer made;
    if (const pretok_status status = encode(cut, made, error))
      return status;
    undo.size = held.size();
    begun = true;
    held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(cut));
    position += cut;
    if (looks)
      worth_a_look = cut != 0 ? held.size() + WORTH_A_LOOK
                              : std::max(2 * held.size(), held.size() + WORTH_A_LOOK);
    ids = std::move(made);
    return PRETOK_OK;
  }

  pretok_status finish(pretok_error *error) {
    IdBuffer made;
    if (const pretok_status status = encode(held.size(), made, error))
      return status;
    if (call.add_special_tokens)
      append_ids(made, call.tokenizer->after);
    finished = true;
    held = {};
    ids = std::move(made);
    return PRETOK_OK;
  }
};

pretok_status pretok_encode_stream_new(const pretok_tokenizer *tokenizer,
                                       const pretok_encode_options *options,
                                       pretok_encode_stream **made,
                                       pretok_error *error) noexcept {
  if (tokenizer == nullptr)
    return missing(error, "the tokenizer");
  if (made == nullptr)
    return missing(error, "made");
  return guarded(error, [&] {
    EncodeCall call;
    if (const pretok_status status = call.read(*tokenizer, options, error))
      return status;
    *made = new pretok_encode_stream{};
    (*made)->call = call;
    return PRETOK_OK;
  });
}

pretok_status pretok_encode_stream_feed(pretok_encode_stream *stream, const char *chunk,
                                        size_t size, const uint32_t **ids, size_t *count,
                                        pretok_error *error) noexcept {
  if (stream == nullptr)
    return missing(error, "the stream");
  if (chunk == nullptr && size != 0)
    return missing(error, "chunk");
  if (ids == nullptr)
    return missing(error, "ids");
  if (count == nullptr)
    return missing(error, "count");
  if (stream->finished)
    return fail(error, PRETOK_FINISHED, "the stream is finished; make another");
  return guarded(error, [&] {
    const pretok_status status =
        stream->feed(reinterpret_cast<const std::uint8_t *>(chunk), size, error);
    if (status == PRETOK_OK) {
      *ids = stream->ids.data();
      *count = stream->ids.size();
    }
    return status;
  });
}

pretok_status pretok_encode_stream_finish(pretok_encode_stream *stream, const uint32_t **ids,
                                          size_t *count, pretok_error *error) noexcept {
  if (stream == nullptr)
    return missing(error, "the stream");
  if (ids == nullptr)
    return missing(error, "ids");
  if (count == nullptr)
    return missing(error, "count");
  if (stream->finished)
    return fail(error, PRETOK_FINISHED, "the stream is finished; make another");
  return guarded(error, [&] {
    const pretok_status status = stream->finish(error);
    if (status == PRETOK_OK) {
      *ids = stream->ids.data();
      *count = stream->ids.size();
    }
    return status;
  });
}

void pretok_encode_stream_free(pretok_encode_stream *freed) noexcept { delete freed; }
