// Encodes a text in chunks.
//
// `held` has the text that is not encoded yet. It starts at the start of the text or at a safe
// cut (find_cut.hpp), so its ids do not depend on earlier text. Once `held` is long enough,
// find_cut searches `held` for another safe cut, from the end backwards. The stream encodes the
// part of `held` before the cut, and removes this part. The next search waits until `held` is
// twice as large as after the removal. A search reads little more than the text after the cut
// that it finds, so all searches together take linear time.
#include "capi/encode_call.hpp"
#include "core/encode/find_cut.hpp"

#include <algorithm>
#include <vector>

namespace pretok {
namespace {

// The minimum number of new bytes between two searches for a cut.
constexpr std::size_t MIN_NEW_BYTES = 512;

// If the capacity of `held` is above this limit and mostly unused, `held` shrinks.
constexpr std::size_t MAX_SPARE_BYTES = std::size_t{1} << 20;

} // namespace
} // namespace pretok

using namespace pretok;

struct pretok_encode_stream {
  EncodeCall call;
  bool has_begun = false; // whether the ids of the template before the text were returned
  bool finished = false;
  std::vector<std::uint8_t> held;
  std::size_t position = 0;                // the offset of `held` in the whole text
  std::size_t next_search = MIN_NEW_BYTES; // the size of `held` that starts a search
  IdBuffer ids;                            // the ids that the last call returned

  // Encodes the first `size` bytes of `held`. At the start of the text, also appends the ids of
  // the template that come before a text.
  pretok_status encode(std::size_t size, IdBuffer &new_ids, pretok_error *error) {
    if (!has_begun)
      call.begin(new_ids);
    if (size == 0)
      return PRETOK_OK;
    const CacheLease cache(call.tokenizer->caches());
    return call.encode(held.data(), size, position, *cache, new_ids, error);
  }

  pretok_status feed(const std::uint8_t *chunk, std::size_t size, pretok_error *error) {
    if (const pretok_status status =
            call.check_bytes(chunk, size, position + held.size(), error))
      return status;
    const std::size_t before = held.size();
    held.insert(held.end(), chunk, chunk + size);
    // If a step fails or throws, the destructor removes the chunk from `held` again.
    struct Undo {
      std::vector<std::uint8_t> &held;
      std::size_t size;
      ~Undo() { held.resize(std::min(held.size(), size)); }
    } undo{held, before};
    const bool searches = held.size() >= next_search;
    const std::size_t cut =
        searches ? find_cut(call.tokenizer->encoder(), *call.policy,
                            call.tokenizer->normalizer(), held.data(), held.size())
                       .position
                 : 0;
    IdBuffer new_ids;
    if (const pretok_status status = encode(cut, new_ids, error))
      return status;
    undo.size = held.size();
    has_begun = true;
    held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(cut));
    position += cut;
    if (searches)
      next_search = held.size() + std::max(held.size(), MIN_NEW_BYTES);
    ids = std::move(new_ids);
    // Do not keep the memory of a large chunk if only small chunks follow.
    if (held.capacity() > MAX_SPARE_BYTES && held.size() < held.capacity() / 4)
      held.shrink_to_fit();
    return PRETOK_OK;
  }

  pretok_status finish(pretok_error *error) {
    IdBuffer new_ids;
    if (const pretok_status status = encode(held.size(), new_ids, error))
      return status;
    call.end(new_ids);
    finished = true;
    held = {};
    ids = std::move(new_ids);
    return PRETOK_OK;
  }
};

pretok_status pretok_encode_stream_new(const pretok_tokenizer *tokenizer,
                                       const pretok_encode_options *options,
                                       pretok_encode_stream **result,
                                       pretok_error *error) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}, {result, "result"}}, [&] {
    EncodeCall call;
    if (const pretok_status status = call.read(*tokenizer, options, error))
      return status;
    *result = new pretok_encode_stream{};
    (*result)->call = call;
    return PRETOK_OK;
  });
}

// Checks the arguments, of which `chunk` is one of feed. If they are valid, returns work(), and
// sets *ids and *count to the ids that it has made.
template <typename Work>
static pretok_status advance(pretok_encode_stream *stream, Argument chunk,
                             const std::uint32_t **ids, std::size_t *count, pretok_error *error,
                             Work work) noexcept {
  if (const pretok_status status =
          check(error, {{stream, "the stream"}, chunk, {ids, "ids"}, {count, "count"}}))
    return status;
  return guarded(error, [&] {
    if (stream->finished)
      return fail(error, PRETOK_FINISHED, "the stream is finished; make a new one");
    const pretok_status status = work();
    if (status == PRETOK_OK) {
      *count = stream->ids.size();
      *ids = *count != 0 ? stream->ids.data() : &NO_IDS;
    }
    return status;
  });
}

pretok_status pretok_encode_stream_feed(pretok_encode_stream *stream, const char *chunk,
                                        size_t size, const uint32_t **ids, size_t *count,
                                        pretok_error *error) noexcept {
  return advance(stream, {chunk, "chunk", size != 0}, ids, count, error, [&] {
    return stream->feed(reinterpret_cast<const std::uint8_t *>(chunk), size, error);
  });
}

pretok_status pretok_encode_stream_finish(pretok_encode_stream *stream, const uint32_t **ids,
                                          size_t *count, pretok_error *error) noexcept {
  return advance(stream, {nullptr, "chunk", false}, ids, count, error,
                 [&] { return stream->finish(error); });
}

void pretok_encode_stream_free(pretok_encode_stream *freed) noexcept { delete freed; }
