// Vocabularies, each built for one text: the tables against the definition.
#include "fuzz/encoding.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace pretok;
  Input input(data, size);
  const std::size_t preset = input.byte();
  const bool add_prefix_space = input.below(4) == 0;
  const Example example = make_example(input);
  static Vocabulary
      vocabulary; // its memory is used again: fresh pages would take most of the time
  VocabularyData copy = example.data;
  check(vocabulary.build(std::move(copy)) == nullptr, "a right vocabulary can be built");
  const Encoder encoder(some_tokenizer(preset), vocabulary, add_prefix_space);
  const CacheLease cache(encoder.caches());
  check_encoding(example, vocabulary, encoder, *cache, input);
  return 0;
}
