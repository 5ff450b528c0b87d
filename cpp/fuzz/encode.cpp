// Fuzzes encoding. All inputs share 16 random vocabularies. Compares the ids with those of the
// slow reference implementation (definition.hpp).
#include "fuzz/encoding.hpp"

#include <random>

namespace {

using namespace pretok;

// A random example and its vocabulary. Equal seeds give equal examples.
struct RandomVocabulary {
  Example example;
  Vocabulary vocabulary;

  explicit RandomVocabulary(std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(200);
    for (std::uint8_t &byte : bytes)
      byte = static_cast<std::uint8_t>(random());
    Input input(bytes.data(), bytes.size());
    example = make_example(input);
    VocabularyData data = example.data;
    check(vocabulary.build(std::move(data)) == nullptr, "building a valid vocabulary succeeds");
  }
};

struct Choice {
  const RandomVocabulary &random;
  const Encoder &encoder;
};

// Returns the vocabulary and the encoder for these arguments. Inputs share encoders, so the
// caches of an encoder contain pre-tokens of earlier inputs.
Choice choose(std::size_t index, std::size_t preset, bool add_prefix_space) {
  constexpr std::size_t VOCABULARIES = 16;
  constexpr std::size_t PRESETS = 4;
  static std::unique_ptr<RandomVocabulary> vocabularies[VOCABULARIES];
  static std::unique_ptr<Encoder> encoders[VOCABULARIES][PRESETS][2];
  index %= VOCABULARIES;
  std::unique_ptr<RandomVocabulary> &random = vocabularies[index];
  if (random == nullptr)
    random = std::make_unique<RandomVocabulary>(static_cast<std::uint32_t>(index));
  // Each vocabulary uses four presets, beginning with preset `index`.
  std::unique_ptr<Encoder> &encoder = encoders[index][preset % PRESETS][add_prefix_space];
  if (encoder == nullptr)
    encoder = std::make_unique<Encoder>(some_tokenizer(preset % PRESETS + index),
                                        random->vocabulary, TextSpaces::of(add_prefix_space));
  return {*random, *encoder};
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::size_t vocabulary = input.byte();
  const std::size_t choices = input.byte();
  const Choice chosen = choose(vocabulary, choices >> 1, (choices & 1) != 0);
  const CacheLease cache(chosen.encoder.caches());
  check_encoding(chosen.random.example, chosen.random.vocabulary, chosen.encoder, *cache,
                 input);
  return 0;
}
