// Fuzzes models whose tokens are text. Writes a .pretok file for each input, loads it through
// the C interface, and compares encoding, decoding and streams with the slow definition
// (characters.hpp).
#include "fuzz/characters.hpp"

#include "capi/pretok.h"
#include "core/unicode/word_characters.hpp"

#include <cstring>
#include <memory>

namespace {

using namespace pretok;

struct Free {
  void operator()(pretok_tokenizer *object) const { pretok_tokenizer_free(object); }
  void operator()(pretok_encode_stream *object) const { pretok_encode_stream_free(object); }
  void operator()(pretok_decode_stream *object) const { pretok_decode_stream_free(object); }
  void operator()(std::uint32_t *object) const { pretok_ids_free(object); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

Owned<pretok_tokenizer> load(const std::string &file) {
  pretok_tokenizer *loaded = nullptr;
  pretok_error error{};
  if (pretok_tokenizer_from_memory(file.data(), file.size(), nullptr, &loaded, &error))
    std::fprintf(stderr, "%s\n", error.message);
  check(loaded != nullptr, "a valid file loads");
  return Owned<pretok_tokenizer>(loaded);
}

Ids streamed(const pretok_tokenizer *tokenizer, const pretok_encode_options &options,
             const std::string &text, std::size_t chunk) {
  pretok_encode_stream *stream = nullptr;
  check(pretok_encode_stream_new(tokenizer, &options, &stream, nullptr) == PRETOK_OK,
        "creating a stream succeeds");
  const Owned<pretok_encode_stream> owner(stream);
  Ids ids;
  const std::uint32_t *part = nullptr;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    const std::string piece = text.substr(at, chunk);
    check(pretok_encode_stream_feed(stream, piece.data(), piece.size(), &part, &count,
                                    nullptr) == PRETOK_OK,
          "feeding a text that can be encoded succeeds");
    ids.insert(ids.end(), part, part + count);
  }
  check(pretok_encode_stream_finish(stream, &part, &count, nullptr) == PRETOK_OK,
        "finishing a stream succeeds");
  ids.insert(ids.end(), part, part + count);
  return ids;
}

void check_decoding(const TextExample &example, const pretok_tokenizer *tokenizer,
                    const Ids &ids, std::size_t chunk) {
  std::size_t size = 0;
  check(pretok_decode(tokenizer, ids.data(), ids.size(), false, nullptr, 0, &size, nullptr) ==
            PRETOK_OK,
        "measuring the size of the decoded text succeeds");
  std::string bytes(size, '\0');
  check(pretok_decode(tokenizer, ids.data(), ids.size(), false, bytes.data(), size, &size,
                      nullptr) == PRETOK_OK,
        "decoding ids succeeds");
  // pretok_decode keeps invalid bytes of fallback tokens. A stream replaces them with U+FFFD.
  check(bytes == text_decoded(example, ids, false),
        "ids decode to the bytes of the definition");
  pretok_decode_stream *stream = nullptr;
  check(pretok_decode_stream_new(tokenizer, false, &stream, nullptr) == PRETOK_OK,
        "creating a stream succeeds");
  const Owned<pretok_decode_stream> owner(stream);
  std::string text;
  const char *part = nullptr;
  for (std::size_t at = 0; at < ids.size(); at += chunk) {
    const std::size_t count = std::min(chunk, ids.size() - at);
    check(pretok_decode_stream_feed(stream, ids.data() + at, count, &part, &size, nullptr) ==
              PRETOK_OK,
          "decoding known ids succeeds");
    text.append(part, size);
  }
  check(pretok_decode_stream_finish(stream, &part, &size, nullptr) == PRETOK_OK,
        "finishing a stream succeeds");
  text.append(part, size);
  check(text == text_decoded(example, ids, true), "ids decode to the text of the definition");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const CodePointRanges WORDS = word_ranges();
  Input input(data, size);
  const TextExample example = make_text_example(input);
  const auto special = static_cast<pretok_special>(input.below(3));
  const std::size_t chunk = 1 + input.byte();
  Ids decoded; // half of these random ids are fallback tokens
  for (std::size_t left = input.below(12); left != 0; --left) {
    const std::uint8_t choice = input.byte();
    decoded.push_back(
        choice < 128 ? FIRST_BYTE + choice * 2U
                     : static_cast<std::uint32_t>((choice - 128U) * 7 % example.tokens.size()));
  }
  const std::vector<std::uint8_t> bytes = input.text();
  const std::string text(bytes.begin(), bytes.end());

  const Owned<pretok_tokenizer> tokenizer = load(file_of(example));
  const Treatment treatments[] = {Treatment::RAISE, Treatment::TEXT, Treatment::ALLOW};
  const Encoding expected =
      text_encoded(example, SlowAdded(example.added, WORDS, treatments[special]), text);
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = special;
  std::uint32_t *array = nullptr;
  std::size_t count = 0;
  pretok_error error{};
  const pretok_status status = pretok_encode_new(tokenizer.get(), text.data(), text.size(),
                                                 &options, &array, &count, &error);
  const Owned<std::uint32_t> owner(array);
  check((status == PRETOK_OK) == (expected.refusal.token == nullptr),
        "pretok refuses a text exactly if the slow definition does");
  check_decoding(example, tokenizer.get(), decoded, chunk);
  if (status != PRETOK_OK) {
    check(status == PRETOK_SPECIAL_TOKEN && error.position == expected.refusal.position,
          "pretok refuses the token at the position of the slow definition");
    return 0;
  }
  const Ids ids(array, array + count);
  check(ids == expected.ids, "the ids equal those of the slow definition");
  check(streamed(tokenizer.get(), options, text, chunk) == ids,
        "a stream gives the ids of the whole text");
  check_decoding(example, tokenizer.get(), ids, chunk);
  return 0;
}
