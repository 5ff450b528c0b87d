// Fuzzes vocabularies. Builds a vocabulary from each input, and compares its encoding with the
// slow definition (definition.hpp).
#include "fuzz/encoding.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace pretok;
  Input input(data, size);
  const std::size_t preset = input.byte();
  const bool add_prefix_space = input.below(4) == 0;
  const Example example = make_example(input);
  // The vocabulary is static, so that all inputs reuse its memory. Otherwise the allocation of
  // new pages would take most of the time.
  static Vocabulary vocabulary;
  VocabularyData copy = example.data;
  check(vocabulary.build(std::move(copy)) == nullptr, "building a valid vocabulary succeeds");
  const Encoder encoder(some_tokenizer(preset), vocabulary, TextSpaces::of(add_prefix_space));
  const CacheLease cache(encoder.caches());
  check_encoding(example, vocabulary, encoder, *cache, input);
  return 0;
}
