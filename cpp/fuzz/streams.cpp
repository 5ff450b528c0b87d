// The C interface: streams give for any chunks what one call gives for the whole, ids decode to
// the text, and buffers that are too small are left alone.
#include "capi/pretok.h"
#include "fuzz/input.hpp"
#include "fuzz/rank_lines.hpp"

#include <array>
#include <cstring>
#include <memory>

namespace {

using namespace pretok;

using Ids = std::vector<std::uint32_t>;

struct Free {
  void operator()(pretok_tokenizer *of) const { pretok_tokenizer_free(of); }
  void operator()(pretok_special_set *of) const { pretok_special_set_free(of); }
  void operator()(pretok_encode_stream *of) const { pretok_encode_stream_free(of); }
  void operator()(pretok_decode_stream *of) const { pretok_decode_stream_free(of); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

const char *const PRESETS[] = {"gpt2",        "cl100k", "o200k",  "qwen2",
                               "deepseek-v3", "falcon", "llama3", "superbpe"};
constexpr std::uint32_t X = 1000; // <x>
constexpr std::uint32_t Y = 1001; // <x>y

const pretok_tokenizer *tokenizer_of(std::size_t number) {
  constexpr std::size_t KINDS = sizeof PRESETS / sizeof *PRESETS;
  static std::array<Owned<pretok_tokenizer>, KINDS> known;
  Owned<pretok_tokenizer> &found = known[number % KINDS];
  if (found == nullptr) {
    std::string file;
    std::uint32_t rank = 0;
    for (int byte = 0; byte < 256; ++byte)
      file += rank_line(std::string(1, static_cast<char>(byte)), rank++);
    for (const char *token :
         {"th",           "he",   " t", " th", " the", "er",      "in",    "  ",
          "    ",         "\n\n", "12", "wo",  "rd",   "word",    " word", "\xE4\xB8",
          "\xE4\xB8\xAD", "'s",   "re", "ll",  "--",   "\xC3\xA9"})
      file += rank_line(token, rank++);
    const pretok_special_token special[] = {{"<x>", 3, X}, {"<x>y", 4, Y}};
    pretok_load_options options{};
    options.struct_size = sizeof options;
    options.preset = PRESETS[number % KINDS];
    options.special_tokens = special;
    options.special_token_count = 2;
    pretok_tokenizer *made = nullptr;
    pretok_error error{};
    check(pretok_tokenizer_from_memory(file.data(), file.size(), &options, &made, &error) ==
              PRETOK_OK,
          "a right file is read");
    found.reset(made);
  }
  return found.get();
}

// What a stream gives for a text in chunks, each as long as a byte of the input says.
pretok_status stream(const pretok_tokenizer *tokenizer, const pretok_encode_options &options,
                     const std::vector<std::uint8_t> &text, Input &chunks, Ids &ids,
                     pretok_error &error) {
  pretok_encode_stream *made = nullptr;
  check(pretok_encode_stream_new(tokenizer, &options, &made, &error) == PRETOK_OK,
        "a stream can be made");
  const Owned<pretok_encode_stream> own(made);
  const std::uint32_t *some = nullptr;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t wanted = chunks.left() != 0 ? chunks.byte() * std::size_t{8} : 700;
    const std::size_t size = wanted < text.size() - at ? wanted : text.size() - at;
    // Memory of this very size.
    const std::vector<std::uint8_t> chunk(text.begin() + static_cast<std::ptrdiff_t>(at),
                                          text.begin() +
                                              static_cast<std::ptrdiff_t>(at + size));
    at += size;
    if (const pretok_status status = pretok_encode_stream_feed(
            made, reinterpret_cast<const char *>(chunk.data()), size, &some, &count, &error))
      return status;
    ids.insert(ids.end(), some, some + count);
  }
  if (const pretok_status status = pretok_encode_stream_finish(made, &some, &count, &error))
    return status;
  ids.insert(ids.end(), some, some + count);
  check(pretok_encode_stream_finish(made, &some, &count, &error) == PRETOK_FINISHED,
        "a stream ends once");
  return PRETOK_OK;
}

std::string decoded_by_stream(const pretok_tokenizer *tokenizer, const Ids &ids, bool skip,
                              std::size_t chunk) {
  pretok_decode_stream *made = nullptr;
  check(pretok_decode_stream_new(tokenizer, skip, &made, nullptr) == PRETOK_OK,
        "a stream can be made");
  const Owned<pretok_decode_stream> own(made);
  std::string text;
  const char *some = nullptr;
  std::size_t size = 0;
  for (std::size_t at = 0; at < ids.size(); at += chunk) {
    const std::size_t count = chunk < ids.size() - at ? chunk : ids.size() - at;
    check(pretok_decode_stream_feed(made, ids.data() + at, count, &some, &size, nullptr) ==
              PRETOK_OK,
          "ids of a text are known");
    text.append(some, size);
  }
  check(pretok_decode_stream_finish(made, &some, &size, nullptr) == PRETOK_OK,
        "a stream can be finished");
  return text.append(some, size);
}

void check_decoding(const pretok_tokenizer *tokenizer, const Ids &ids, bool skip,
                    std::size_t chunk, std::string &bytes) {
  std::size_t size = 0;
  check(pretok_decode(tokenizer, ids.data(), ids.size(), skip, nullptr, 0, &size, nullptr) ==
            PRETOK_OK,
        "a size can be asked for");
  bytes.resize(size);
  if (size > 1) {
    std::size_t again = 0;
    check(pretok_decode(tokenizer, ids.data(), ids.size(), skip, bytes.data(), size - 1, &again,
                        nullptr) == PRETOK_TOO_SMALL &&
              again == size,
          "a buffer that is too small is not written to");
  }
  check(pretok_decode(tokenizer, ids.data(), ids.size(), skip, bytes.data(), size, &size,
                      nullptr) == PRETOK_OK &&
            size == bytes.size(),
        "a buffer of that size is enough");
  check(decoded_by_stream(tokenizer, ids, skip, chunk) ==
            decoded_by_stream(tokenizer, ids, skip, ids.size() + 1),
        "the chunks of a stream do not matter");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const pretok_tokenizer *const tokenizer = tokenizer_of(input.byte());
  const std::uint8_t how = input.byte();
  const std::size_t chunk = 1 + input.below(8);
  const std::vector<std::uint8_t> sizes = input.take(input.below(16));
  Input chunks(sizes.data(), sizes.size());

  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = static_cast<pretok_special>(how % 3);
  options.add_special_tokens = (how & 8) != 0;
  Owned<pretok_special_set> set;
  if ((how & 48) == 48) {
    const char *const text = "<x>";
    const std::size_t text_size = 3;
    pretok_special_set *made = nullptr;
    check(pretok_special_set_new(tokenizer, &text, &text_size, 1, &made, nullptr) == PRETOK_OK,
          "a set can be made");
    set.reset(made);
    options.allowed = made;
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
  check(stream(tokenizer, options, text, chunks, streamed, stream_error) == status,
        "a stream says what one call says");
  if (status != PRETOK_OK) {
    check(status == PRETOK_SPECIAL_TOKEN && how % 3 == 0 && set == nullptr,
          "only special tokens are refused, and only if they are to be");
    check(error.position == stream_error.position, "both say where");
    check(std::memcmp(bytes + error.position, "<x>", 3) == 0, "and there it is");
    return 0;
  }
  ids.resize(count);
  check(streamed == ids, "a stream gives what one call gives");
  std::size_t counted = 0;
  check(pretok_count(tokenizer, bytes, text.size(), &options, &counted, nullptr) == PRETOK_OK &&
            counted == count,
        "as many are counted");
  std::string decoded;
  check_decoding(tokenizer, ids, false, chunk, decoded);
  check(decoded == std::string(text.begin(), text.end()), "ids decode to the text");
  check_decoding(tokenizer, ids, true, chunk, decoded);
  return 0;
}
