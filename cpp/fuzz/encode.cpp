// Texts with added tokens, by some vocabularies that are kept, against the definition.
#include "fuzz/encoding.hpp"

#include <random>

namespace {

using namespace pretok;

struct Kept {
  Example example;
  Vocabulary vocabulary;

  explicit Kept(std::uint32_t seed) {
    std::mt19937 source(seed);
    std::vector<std::uint8_t> bytes(200);
    for (std::uint8_t &byte : bytes)
      byte = static_cast<std::uint8_t>(source());
    Input input(bytes.data(), bytes.size());
    example = make_example(input);
    VocabularyData data = example.data;
    check(vocabulary.build(std::move(data)) == nullptr, "a right vocabulary can be built");
  }
};

// With one encoder for each preset, so that caches know some of a text already.
struct Choice {
  const Kept &kept;
  const Encoder &encoder;
};

Choice choose(std::size_t number, std::size_t preset, bool add_prefix_space) {
  constexpr std::size_t VOCABULARIES = 16;
  constexpr std::size_t PRESETS = 4;
  static std::unique_ptr<Kept> kept[VOCABULARIES];
  static std::unique_ptr<Encoder> encoders[VOCABULARIES][PRESETS][2];
  number %= VOCABULARIES;
  std::unique_ptr<Kept> &one = kept[number];
  if (one == nullptr)
    one = std::make_unique<Kept>(static_cast<std::uint32_t>(number));
  // Each vocabulary has its own presets.
  std::unique_ptr<Encoder> &encoder = encoders[number][preset % PRESETS][add_prefix_space];
  if (encoder == nullptr)
    encoder = std::make_unique<Encoder>(some_tokenizer(preset % PRESETS + number),
                                        one->vocabulary, add_prefix_space);
  return {*one, *encoder};
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::size_t vocabulary = input.byte();
  const std::size_t how = input.byte();
  const Choice chosen = choose(vocabulary, how >> 1, (how & 1) != 0);
  const CacheLease cache(chosen.encoder.caches());
  check_encoding(chosen.kept.example, chosen.kept.vocabulary, chosen.encoder, *cache, input);
  return 0;
}
