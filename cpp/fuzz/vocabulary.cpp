// Fuzzes vocabularies. Builds a vocabulary from each input, and compares its encoding with the
// slow definition (definition.hpp). Half of the vocabularies of ranks merge by RankMerge.
#include "core/bpe/rank_merge.hpp"
#include "fuzz/encoding.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace pretok;
  Input input(data, size);
  const std::size_t preset = input.byte();
  const bool add_prefix_space = input.below(4) == 0;
  const Example example = make_example(input);
  // The vocabularies are static, so that all inputs reuse their memory. Otherwise the
  // allocation of new pages would take most of the time.
  static Vocabulary merging;
  static Vocabulary looking_up;
  const bool looks_up = example.data.from_ranks && preset >= 128;
  Vocabulary &vocabulary = looks_up ? looking_up : merging;
  VocabularyData copy = example.data;
  const char *const error =
      looks_up ? vocabulary.build(std::move(copy),
                                  std::make_unique<RankMerge>(vocabulary.whole_tokens()))
               : vocabulary.build(std::move(copy));
  check(error == nullptr, "building a valid vocabulary succeeds");
  const Encoder encoder(some_tokenizer(preset), vocabulary, TextSpaces::of(add_prefix_space));
  const CacheLease cache(encoder.caches());
  check_encoding(example, vocabulary, encoder, *cache, input);
  return 0;
}
