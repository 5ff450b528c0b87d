// Encoding a text that comes in chunks.
//
// What is held back begins where the text can be cut (safe_cut.hpp), so that it is a text by
// itself. When enough has come a place to cut it is looked for, near its end first; what is
// before that is encoded, and the rest is held back. The next look comes only when there is
// twice as much: a look goes back not much further than to what it finds, so all take linear
// time.
#include "capi/encode_call.hpp"
#include "capi/find_cut.hpp"

#include <algorithm>
#include <vector>

namespace pretok {
namespace {

// So much more has to come before a cut is looked for again.
constexpr std::size_t WORTH_A_LOOK = 512;

// What `held` may keep of memory that it does not need.
constexpr std::size_t MUCH = std::size_t{1} << 20;

// Where none are: a pointer that is not NULL.
constexpr std::uint32_t NO_IDS = 0;

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
    if (!begun)
      call.begin(made);
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
      worth_a_look = held.size() + std::max(held.size(), WORTH_A_LOOK);
    ids = std::move(made);
    // Memory for one large chunk is not kept for small ones.
    if (held.capacity() > MUCH && held.size() < held.capacity() / 4)
      held.shrink_to_fit();
    return PRETOK_OK;
  }

  // Shows the caller what was last given out.
  void give(const std::uint32_t **to, std::size_t *count) const {
    *count = ids.size();
    *to = *count != 0 ? ids.data() : &NO_IDS;
  }

  pretok_status finish(pretok_error *error) {
    IdBuffer made;
    if (const pretok_status status = encode(held.size(), made, error))
      return status;
    call.end(made);
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
  if (const pretok_status status = check(error, {{tokenizer, "the tokenizer"}, {made, "made"}}))
    return status;
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
  if (const pretok_status status = check(error, {{stream, "the stream"},
                                                 {chunk, "chunk", size != 0},
                                                 {ids, "ids"},
                                                 {count, "count"}}))
    return status;
  if (stream->finished)
    return fail(error, PRETOK_FINISHED, "the stream is finished; make another");
  return guarded(error, [&] {
    const pretok_status status =
        stream->feed(reinterpret_cast<const std::uint8_t *>(chunk), size, error);
    if (status == PRETOK_OK)
      stream->give(ids, count);
    return status;
  });
}

pretok_status pretok_encode_stream_finish(pretok_encode_stream *stream, const uint32_t **ids,
                                          size_t *count, pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{stream, "the stream"}, {ids, "ids"}, {count, "count"}}))
    return status;
  if (stream->finished)
    return fail(error, PRETOK_FINISHED, "the stream is finished; make another");
  return guarded(error, [&] {
    const pretok_status status = stream->finish(error);
    if (status == PRETOK_OK)
      stream->give(ids, count);
    return status;
  });
}

void pretok_encode_stream_free(pretok_encode_stream *freed) noexcept { delete freed; }
