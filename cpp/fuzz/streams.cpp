// Fuzzes the C interface. A stream that gets a text in chunks must give the same ids as one
// call with the whole text, ids must decode to the text, and calls must not write to a buffer
// that is too small.
#include "fuzz/small_tokenizers.hpp"

#include <cstring>

namespace {

using namespace pretok;

using Ids = std::vector<std::uint32_t>;

// Feeds a text to a new stream and appends its ids to `ids`. Each byte of `chunk_sizes` is the
// size of one chunk in units of 8 bytes. All later chunks have 700 bytes. Returns PRETOK_OK, or
// the status and the `error` of the first call that failed.
pretok_status encode_by_stream(const pretok_tokenizer *tokenizer,
                               const pretok_encode_options &options,
                               const std::vector<std::uint8_t> &text, Input &chunk_sizes,
                               Ids &ids, pretok_error &error) {
  pretok_encode_stream *stream = nullptr;
  check(pretok_encode_stream_new(tokenizer, &options, &stream, &error) == PRETOK_OK,
        "creating a stream succeeds");
  const Owned<pretok_encode_stream> owner(stream);
  const std::uint32_t *part = nullptr;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t chunk_size =
        chunk_sizes.left() != 0 ? chunk_sizes.byte() * std::size_t{8} : 700;
    const std::size_t size = chunk_size < text.size() - at ? chunk_size : text.size() - at;
    // An exact-size allocation lets a sanitizer catch reads outside the chunk.
    const std::vector<std::uint8_t> chunk(text.begin() + static_cast<std::ptrdiff_t>(at),
                                          text.begin() +
                                              static_cast<std::ptrdiff_t>(at + size));
    at += size;
    if (const pretok_status status = pretok_encode_stream_feed(
            stream, reinterpret_cast<const char *>(chunk.data()), size, &part, &count, &error))
      return status;
    ids.insert(ids.end(), part, part + count);
  }
  if (const pretok_status status = pretok_encode_stream_finish(stream, &part, &count, &error))
    return status;
  ids.insert(ids.end(), part, part + count);
  check(pretok_encode_stream_finish(stream, &part, &count, &error) == PRETOK_FINISHED,
        "a second finish returns PRETOK_FINISHED");
  return PRETOK_OK;
}

std::string decoded_by_stream(const pretok_tokenizer *tokenizer, const Ids &ids,
                              bool skip_special, std::size_t chunk) {
  pretok_decode_stream *stream = nullptr;
  check(pretok_decode_stream_new(tokenizer, skip_special, &stream, nullptr) == PRETOK_OK,
        "creating a stream succeeds");
  const Owned<pretok_decode_stream> owner(stream);
  std::string text;
  const char *part = nullptr;
  std::size_t size = 0;
  for (std::size_t at = 0; at < ids.size(); at += chunk) {
    const std::size_t count = chunk < ids.size() - at ? chunk : ids.size() - at;
    check(pretok_decode_stream_feed(stream, ids.data() + at, count, &part, &size, nullptr) ==
              PRETOK_OK,
          "decoding the ids of a text succeeds");
    text.append(part, size);
  }
  check(pretok_decode_stream_finish(stream, &part, &size, nullptr) == PRETOK_OK,
        "finishing a stream succeeds");
  return text.append(part, size);
}

void check_decoding(const pretok_tokenizer *tokenizer, const Ids &ids, bool skip_special,
                    std::size_t chunk, std::string &bytes) {
  std::size_t size = 0;
  check(pretok_decode(tokenizer, ids.data(), ids.size(), skip_special, nullptr, 0, &size,
                      nullptr) == PRETOK_OK,
        "measuring without a buffer succeeds");
  bytes.resize(size);
  if (size > 1) {
    std::size_t needed_size = 0;
    check(pretok_decode(tokenizer, ids.data(), ids.size(), skip_special, bytes.data(), size - 1,
                        &needed_size, nullptr) == PRETOK_TOO_SMALL &&
              needed_size == size,
          "a buffer that is 1 byte too small gives PRETOK_TOO_SMALL and the same size");
  }
  check(pretok_decode(tokenizer, ids.data(), ids.size(), skip_special, bytes.data(), size,
                      &size, nullptr) == PRETOK_OK &&
            size == bytes.size(),
        "a buffer of the measured size is large enough");
  check(decoded_by_stream(tokenizer, ids, skip_special, chunk) ==
            decoded_by_stream(tokenizer, ids, skip_special, ids.size() + 1),
        "the chunks of a stream do not change the text");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const pretok_tokenizer *const tokenizer = tokenizer_of(input.byte());
  const std::uint8_t choices = input.byte();
  const std::size_t chunk = 1 + input.below(8);
  const std::vector<std::uint8_t> sizes = input.take(input.below(16));
  Input chunk_sizes(sizes.data(), sizes.size());

  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = static_cast<pretok_special>(choices % 3);
  options.add_special_tokens = (choices & 8) != 0;
  Owned<pretok_special_set> set;
  if ((choices & 48) == 48) {
    const char *const text = "<x>";
    const std::size_t text_size = 3;
    pretok_special_set *new_set = nullptr;
    check(pretok_special_set_new(tokenizer, &text, &text_size, 1, &new_set, nullptr) ==
              PRETOK_OK,
          "creating a set succeeds");
    set.reset(new_set);
    options.allowed = new_set;
  }
  const std::vector<std::uint8_t> text = input.text();
  const auto *const bytes = reinterpret_cast<const char *>(text.data());

  Ids ids(pretok_encode_bound(tokenizer, text.size()));
  std::size_t count = 0;
  pretok_error error{};
  const pretok_status status = pretok_encode(tokenizer, bytes, text.size(), &options,
                                             ids.data(), ids.size(), &count, &error);
  Ids streamed;
  pretok_error stream_error{};
  check(encode_by_stream(tokenizer, options, text, chunk_sizes, streamed, stream_error) ==
            status,
        "a stream and one call return the same status");
  if (status != PRETOK_OK) {
    check(status == PRETOK_SPECIAL_TOKEN && choices % 3 == 0 && set == nullptr,
          "only PRETOK_SPECIAL_RAISE without a set refuses a special token");
    check(error.position == stream_error.position,
          "a stream and one call report the same position");
    check(std::memcmp(bytes + error.position, "<x>", 3) == 0,
          "<x> is at the reported position");
    return 0;
  }
  ids.resize(count);
  check(streamed == ids, "a stream and one call give the same ids");
  std::size_t counted = 0;
  check(pretok_count(tokenizer, bytes, text.size(), &options, &counted, nullptr) == PRETOK_OK &&
            counted == count,
        "pretok_count gives the number of ids");
  std::string decoded;
  check_decoding(tokenizer, ids, false, chunk, decoded);
  check(decoded == std::string(text.begin(), text.end()), "ids decode to the text");
  check_decoding(tokenizer, ids, true, chunk, decoded);
  return 0;
}
