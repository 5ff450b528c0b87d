// Tests added tokens through the C interface: many tokens, long tokens, and several tokens with
// one id. Time must be linear in the sizes of the tokens and the text.
#include "pretok.h"
#include "small_vocabulary.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace {

int failures = 0;

void check(bool holds, const char *what) {
  if (holds)
    return;
  std::printf("does not hold: %s\n", what);
  ++failures;
}

struct Free {
  void operator()(pretok_tokenizer *of) const { pretok_tokenizer_free(of); }
  void operator()(pretok_special_set *of) const { pretok_special_set_free(of); }
  void operator()(pretok_encode_stream *of) const { pretok_encode_stream_free(of); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

using Names = std::vector<std::string>;

// Loads a small vocabulary with special tokens of these names. If `one_id`, all have the id
// 1000.
Owned<pretok_tokenizer> load(const Names &names, bool one_id = false) {
  static std::string file = [] {
    std::string text(1 << 14, '\0');
    text.resize(write_small_vocabulary(text.data()));
    return text;
  }();
  std::vector<pretok_special_token> special;
  for (const std::string &name : names)
    special.push_back({name.data(), name.size(),
                       1000 + static_cast<std::uint32_t>(one_id ? 0 : special.size())});
  pretok_load_options options{};
  options.struct_size = sizeof options;
  options.preset = "cl100k";
  options.special_tokens = special.data();
  options.special_token_count = special.size();
  pretok_tokenizer *tokenizer = nullptr;
  pretok_error error{};
  check(pretok_tokenizer_from_memory(file.data(), file.size(), &options, &tokenizer, &error) ==
            PRETOK_OK,
        error.message);
  return Owned<pretok_tokenizer>(tokenizer);
}

Owned<pretok_special_set> set_of(const pretok_tokenizer *tokenizer, const Names &names,
                                 pretok_error &error) {
  std::vector<const char *> texts;
  std::vector<std::size_t> sizes;
  for (const std::string &name : names) {
    texts.push_back(name.data());
    sizes.push_back(name.size());
  }
  pretok_special_set *new_set = nullptr;
  const pretok_status status = pretok_special_set_new(tokenizer, texts.data(), sizes.data(),
                                                      names.size(), &new_set, &error);
  check((status == PRETOK_OK) == (new_set != nullptr),
        "pretok_special_set_new returns a set exactly if its status is PRETOK_OK");
  return Owned<pretok_special_set>(new_set);
}

Names reserved(std::size_t count) {
  Names names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back("<|reserved_special_token_" + std::to_string(i) + "|>");
  return names;
}

// Returns the number of ids that a stream gives for `text` in chunks of `chunk` bytes.
std::size_t stream(const pretok_tokenizer *tokenizer, const pretok_encode_options &options,
                   const std::string &text, std::size_t chunk) {
  pretok_encode_stream *new_stream = nullptr;
  check(pretok_encode_stream_new(tokenizer, &options, &new_stream, nullptr) == PRETOK_OK,
        "a stream can be created");
  const Owned<pretok_encode_stream> own(new_stream);
  const std::uint32_t *ids = nullptr;
  std::size_t count = 0;
  std::size_t total = 0;
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    check(pretok_encode_stream_feed(new_stream, text.data() + at,
                                    std::min(chunk, text.size() - at), &ids, &count,
                                    nullptr) == PRETOK_OK,
          "a chunk can be fed");
    total += count;
  }
  check(pretok_encode_stream_finish(new_stream, &ids, &count, nullptr) == PRETOK_OK,
        "a stream can be finished");
  return total + count;
}

template <typename Work> double seconds(Work work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Checks that work(64 * size) takes less than 512 times as long as work(size). Work in linear
// time takes 64 times as long, and several times more if only the small size fits in the
// caches; work in quadratic time takes 4096 times as long. Other processes can only make a run
// slower, so the fastest run of each size is compared.
template <typename Work> void check_linear(const char *what, std::size_t size, Work work) {
  double small = 1e9;
  double large = 1e9;
  int runs = 0;
  do {
    for (int i = 0; i < 3; ++i)
      small = std::min(small, std::max(seconds([&] { work(size); }), 1e-4));
    large = std::min(large, seconds([&] { work(64 * size); }));
  } while (large >= 512 * small && ++runs < 3);
  if (large >= 512 * small)
    std::printf("%g s, and %g s for 64 times as much\n", small, large);
  check(large < 512 * small, what);
}

void test_sets() {
  pretok_error error{};
  check_linear("a set of many names takes linear time", 1500, [&](std::size_t count) {
    const Names names = reserved(count);
    const Owned<pretok_tokenizer> tokenizer = load(names);
    check(set_of(tokenizer.get(), names, error) != nullptr, "a set of all names");
  });
  const Names names = reserved(10);
  const Owned<pretok_tokenizer> tokenizer = load(names);
  check(set_of(tokenizer.get(), {names[7], names[5], names[7]}, error) != nullptr,
        "a set may have the same name twice");
  check(set_of(tokenizer.get(), {names[7], "x", "a"}, error) == nullptr &&
            error.status == PRETOK_UNKNOWN_NAME &&
            std::strstr(error.message, "\"x\"") != nullptr,
        "the error names the first unknown name");
  check(set_of(tokenizer.get(), {std::string(100000, 'x')}, error) == nullptr &&
            std::strlen(error.message) < sizeof error.message - 1,
        "the error message truncates a long name");
}

void test_one_id() {
  const Names names = {"<a>", "<b>"};
  const Owned<pretok_tokenizer> tokenizer = load(names, /*one_id=*/true);
  for (const std::string &name : names) {
    pretok_error error{};
    std::size_t count = 0;
    const std::string text = "x" + name;
    check(pretok_count(tokenizer.get(), text.data(), text.size(), nullptr, &count, &error) ==
                  PRETOK_SPECIAL_TOKEN &&
              error.position == 1 && std::strstr(error.message, name.c_str()) != nullptr,
          "if two tokens have the same id, the error names the token in the text");
  }
}

void test_long_tokens() {
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = PRETOK_SPECIAL_ALLOW;
  for (const std::string &unit : {std::string("a"), std::string(" the"), std::string("a b")}) {
    const auto run = [&unit](std::size_t size) {
      std::string text;
      while (text.size() < size)
        text += unit;
      return text;
    };
    for (const char *also : {"<|x|>", "a", " "})
      check_linear("a long token takes linear time in a stream", 1500, [&](std::size_t size) {
        const Owned<pretok_tokenizer> tokenizer = load({run(size) + "!", also});
        const std::string text = run(2 * size);
        std::size_t count = 0;
        check(pretok_count(tokenizer.get(), text.data(), text.size(), &options, &count,
                           nullptr) == PRETOK_OK,
              "a text can be counted");
        check(stream(tokenizer.get(), options, text, 50) == count,
              "a stream gives as many ids as one call");
      });
  }
}

} // namespace

int main() {
  test_sets();
  test_one_id();
  test_long_tokens();
  if (failures == 0)
    std::printf("passed\n");
  return failures == 0 ? 0 : 1;
}
