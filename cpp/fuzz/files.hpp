// Damages tokenizer files. Checks the result of reading any file, damaged or not.
#pragma once

#include "core/base/id_buffer.hpp"
#include "core/base/ids.hpp"
#include "core/base/sizes.hpp"
#include "core/decode/decoder_flow.hpp"
#include "core/normalize/growth.hpp"
#include "core/normalize/normalizer_chain.hpp"
#include "core/unicode/byte_level.hpp"
#include "formats/byte_source.hpp"
#include "formats/character_spec.hpp"
#include "formats/find_split.hpp"
#include "formats/load_error.hpp"
#include "formats/make_tokenizer.hpp"
#include "formats/read_spec.hpp"
#include "fuzz/input.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {

inline std::string little_endian(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> 8 * i & 0xFF);
  return bytes;
}

// Damages a file up to 5 times at random places, none before byte `from`. Each time changes a
// byte or a bit, inserts a byte, erases bytes, or truncates the file.
inline void damage(Input &input, std::string &file, std::size_t from) {
  for (std::size_t left = input.below(6); left != 0 && file.size() > from; --left) {
    const std::size_t at =
        from + (input.byte() * std::size_t{256} + input.byte()) % (file.size() - from);
    const std::uint8_t byte = input.byte();
    switch (input.below(5)) {
    case 0:
      file[at] = static_cast<char>(byte);
      break;
    case 1:
      file[at] = static_cast<char>(file[at] ^ 1 << byte % 8);
      break;
    case 2:
      file.insert(at, 1, static_cast<char>(byte));
      break;
    case 3:
      file.erase(at, byte);
      break;
    default:
      file.resize(at);
    }
  }
}

// A file that has lost its last `lost` bytes since it was opened.
class ShrinkingSource final : public ByteSource {
public:
  ShrinkingSource(const std::vector<std::uint8_t> &bytes, std::size_t lost)
      : bytes_(bytes), lost_(lost) {}

  std::uint64_t size() const override { return bytes_.size() + lost_; }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override {
    check(at >= end_, "the reader reads a file from front to back");
    const std::size_t got = MemorySource(bytes_.data(), bytes_.size()).read(at, to, count);
    end_ = at + got;
    return got;
  }

private:
  const std::vector<std::uint8_t> &bytes_;
  std::size_t lost_;
  std::uint64_t end_ = 0;
};

// Checks that reading a file that has lost its last `lost` bytes gives a result, or an error
// with a message. If `lost` is 0, the result must equal that of reading the same bytes in
// memory.
inline void check_source(const std::vector<std::uint8_t> &bytes, std::size_t lost) {
  ShrinkingSource file(bytes, lost);
  TokenizerSpec spec;
  const LoadError error = read_spec(file, spec);
  check(!error || !error.message.empty(), "an error has a message");
  if (lost != 0)
    return;
  TokenizerSpec whole;
  const LoadError whole_error = read_spec(bytes.data(), bytes.size(), whole);
  check(error.kind == whole_error.kind && error.message == whole_error.message,
        "reading a file and reading memory give the same error");
  check(error || (spec.vocabulary.bytes == whole.vocabulary.bytes &&
                  spec.vocabulary.ids == whole.vocabulary.ids),
        "reading a file and reading memory give the same tokens");
}

// Checks the normalizer and the decoder of a tokenizer: sizes, places, and that a copied stream
// decodes like the original.
inline void check_steps(const TokenizerSpec &spec, const std::uint8_t *text, std::size_t size) {
  if (!spec.steps.empty() || spec.metaspace) {
    reset_steps();
    const NormalizerChain chain(spec.steps, spec.metaspace);
    check(steps() <= 256 * 16 * 16, "making a chain spells one page in each of 16 maps");
    check(chain.max_growth() <= 5 * MAX_GROWTH, "the steps and Metaspace have a small growth");
    reset_steps();
    std::vector<std::uint8_t> normal;
    chain.normalize(text, size, normal);
    check(steps() <= (size + 1) * 256 * 16 * 16 + size * MAX_GROWTH * 3 * spec.steps.size(),
          "normalizing spells at most a page for a byte, and writes few bytes for each step");
    std::vector<std::uint8_t> aligned;
    Origins origins;
    chain.align(text, size, aligned, origins);
    check(aligned == normal && origins.size() == normal.size(),
          "each byte of the normalized text has an origin");
    for (const std::int64_t origin : origins)
      check(origin == NO_ORIGIN || origin == SAME_ORIGIN ||
                (origin >= 0 && static_cast<std::size_t>(origin) < size),
            "each origin is within the text");
    std::size_t total = 0;
    if (chain.has_metaspace())
      chain.apply_metaspace(
          normal.data(), normal.size(),
          [&](std::size_t) { return chain.prepend() != PrependScheme::NEVER; },
          [&](const std::uint8_t *, std::size_t piece, std::size_t start, std::size_t end) {
            check(start <= end && end <= normal.size(), "pieces are within the text");
            total += piece;
          });
    check(std::max(total, normal.size()) <= saturating_multiply(size, chain.max_growth()),
          "the normalized text has at most the size that max_growth allows");
  }
  if (!spec.decoder)
    return;
  std::vector<DecoderRule> rules;
  for (const DecoderStep &step : *spec.decoder)
    rules.emplace_back(step);
  const bool has_bytes = !spec.text; // as in DecoderChain
  std::size_t size_of_tokens = 0;
  for (const bool keeps_invalid : {false, true}) {
    size_of_tokens = 0;
    std::size_t count = 0;
    reset_steps();
    DecoderFlows whole(rules, keeps_invalid);
    std::string expected;
    std::string copied;
    auto flows = std::make_unique<DecoderFlows>(rules, keeps_invalid);
    for (const std::string_view bytes : texts_of(spec)) {
      if (bytes.size() > 64)
        continue;
      if (size_of_tokens * rules.size() > 4096) // long chains decode few tokens
        break;
      const std::string token = has_bytes ? byte_characters(bytes) : std::string(bytes);
      size_of_tokens += token.size();
      whole.feed(token, expected);
      if ((count & (count - 1)) == 0) // rarely, since a copy takes time for the held text
        flows = std::make_unique<DecoderFlows>(*flows);
      flows->feed(token, copied);
      ++count;
    }
    whole.finish(expected);
    flows->finish(copied);
    check(expected.size() <= MAX_GROWTH * size_of_tokens, "the decoders have a small growth");
    check(steps() <= 2 * MAX_GROWTH * size_of_tokens * (1 + rules.size()),
          "decoding writes few bytes for each step");
    check(copied == expected, "a copied stream decodes like the original");
    check(keeps_invalid || is_utf8(expected), "a stream decodes to UTF-8");
  }
}

// Checks that reading any file gives an error with a message, or a valid tokenizer.
inline void check_file(const std::string &file, const Input &input) {
  const std::vector<std::uint8_t> bytes(file.begin(), file.end());
  check_source(bytes, 0);
  check_source(bytes, 1 + bytes.size() % 1000);
  TokenizerSpec spec;
  const LoadError error = read_spec(bytes.data(), bytes.size(), spec);
  if (error) {
    check(!error.message.empty(), "an error has a message");
    return;
  }
  const VocabularyData &data = spec.vocabulary;
  check(!data.ids.empty() && data.ids.size() == data.lengths.size(), "tokens have ids");
  std::size_t size = 0;
  for (const std::uint32_t length : data.lengths)
    size += length;
  check(size <= data.bytes.size(), "tokens are within the bytes");
  check(size <= (std::size_t{1} << 24) + 32 * data.ids.size() + file.size(),
        "the size of the tokens is bounded by the size of the file");
  const std::set<std::uint32_t> distinct(data.ids.begin(), data.ids.end());
  check(distinct.size() == data.ids.size() && *distinct.rbegin() < ID_LIMIT,
        "ids are distinct and less than ID_LIMIT");
  check(spec.before.size() + spec.after.size() <= MAX_TEMPLATE_IDS,
        "a template has at most MAX_TEMPLATE_IDS ids");
  for (const AddedToken &token : spec.added)
    check(token.id < ID_LIMIT && !token.content.empty(),
          "added tokens have valid ids and are not empty");
  static const std::uint8_t TEXT[] = {'a', 'b', 'c', 0xC3, 0xA9, '\n'};
  if (input.is_one_in(16))
    check_steps(spec, TEXT, sizeof TEXT);
  // Make few tokenizers, and only if the ids are small: a vocabulary takes memory in proportion
  // to its largest id.
  const auto is_small = [](const AddedToken &token) { return token.id < 1 << 12; };
  if (*distinct.rbegin() >= 1 << 12 || !input.is_one_in(256) ||
      !std::all_of(spec.added.begin(), spec.added.end(), is_small))
    return;
  if (spec.characters && spec.sentencepiece) {
    const SentencePieceNormalizer normalizer = make_normalizer(spec);
    std::vector<std::uint8_t> normalized;
    normalizer.normalize(TEXT, sizeof TEXT, normalized);
    check(normalized.size() <= sizeof TEXT * normalizer.max_growth(),
          "the normalized text has at most the size that max_growth allows");
  }
  static const std::optional<NamedPreTokenizer> GPT2 = [] {
    std::optional<NamedPreTokenizer> split;
    check(!find_preset_split("gpt2", nullptr, split), "gpt2 is a preset");
    return split;
  }();
  TokenizerOptions options;
  if (!spec.text)
    options.split = GPT2;
  std::unique_ptr<Tokenizer> tokenizer;
  if (const LoadError error_of_make =
          make_tokenizer(std::move(spec), std::move(options), tokenizer)) {
    check(error_of_make.message.find("damaged") == std::string::npos,
          "building the vocabulary of a valid file succeeds");
    return;
  }
  const AddedTokenPhases added(tokenizer->search_for(tokenizer->added()));
  const CacheLease cache(tokenizer->caches());
  IdBuffer ids;
  tokenizer->encode(TEXT, sizeof TEXT, added, *cache, ids);
  check(ids.size() <= tokenizer->max_capacity(sizeof TEXT), "the tokenizer encodes a text");
}

} // namespace pretok
