// Encodes words whose sizes overflow 32-bit arithmetic. Needs 0.6 GB of memory (1.1 GB on
// 32-bit systems), so it runs only if PRETOK_FULL is set.
#include "pretok.h"
#include "small_vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

constexpr int SKIPPED = 77;

pretok_error error;

std::unique_ptr<pretok_tokenizer, void (*)(pretok_tokenizer *)> load() {
  static char file[1 << 14];
  const std::size_t size = write_small_vocabulary(file);
  pretok_load_options options{};
  options.struct_size = sizeof options;
  options.preset = "cl100k";
  pretok_tokenizer *tokenizer = nullptr;
  if (pretok_tokenizer_from_memory(file, size, &options, &tokenizer, &error) != PRETOK_OK)
    std::printf("%s\n", error.message);
  return {tokenizer, pretok_tokenizer_free};
}

std::unique_ptr<char, void (*)(void *)> word_of(std::size_t size) {
  void *const memory = std::malloc(size);
  if (memory != nullptr)
    std::memset(memory, 'x', size);
  return {static_cast<char *>(memory), std::free};
}

// Feeds one word to a stream, which must not return ids before the word ends. The window of
// find_cut grows from 2^8 to 2^28 bytes. Its next size does not fit in 32 bits.
bool stream_waits_for_end_of_word(const pretok_tokenizer *tokenizer) {
  const std::size_t size = (std::size_t{1} << 28) + (1 << 12);
  const auto word = word_of(size);
  pretok_encode_stream *stream = nullptr;
  if (word == nullptr ||
      pretok_encode_stream_new(tokenizer, nullptr, &stream, &error) != PRETOK_OK)
    return false;
  const std::uint32_t *ids = nullptr;
  std::size_t count = 1;
  const pretok_status status =
      pretok_encode_stream_feed(stream, word.get(), size, &ids, &count, &error);
  pretok_encode_stream_free(stream);
  return status == PRETOK_OK && count == 0;
}

// On a 32-bit system, encoding a word of 1 GiB must run out of memory: a buffer with one id per
// byte takes 4 GiB.
bool ids_exceed_32_bit_memory(const pretok_tokenizer *tokenizer) {
  if (sizeof(void *) > 4)
    return true;
  const std::size_t size = std::size_t{1} << 30;
  const auto word = word_of(size);
  std::size_t count = 0;
  return word == nullptr || pretok_encode(tokenizer, word.get(), size, nullptr, nullptr, 0,
                                          &count, &error) == PRETOK_OUT_OF_MEMORY;
}

} // namespace

int main() {
  if (std::getenv("PRETOK_FULL") == nullptr) {
    std::printf("skipped: set PRETOK_FULL to run it\n");
    return SKIPPED;
  }
  const auto tokenizer = load();
  const bool passed = tokenizer != nullptr && stream_waits_for_end_of_word(tokenizer.get()) &&
                      ids_exceed_32_bit_memory(tokenizer.get());
  std::printf(passed ? "2 passed, 0 failed\n"
                     : "failed: a large word gave an unexpected status or ids\n");
  return passed ? 0 : 1;
}
