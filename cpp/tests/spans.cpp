// Spans of tokens in the text before it is normalized. bpe.Tokenizer.token_spans gave the
// expected ids and spans.
#include "formats/make_tokenizer.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pretok;
using Offsets = std::vector<std::int64_t>;

bool is_good = true;

void expect(bool condition, const char *what) {
  if (!condition)
    std::printf("FAILED: %s\n", what);
  is_good = is_good && condition;
}

AddedToken added(const char *content, std::uint32_t id, bool normalized, bool special) {
  AddedToken token;
  token.content = content;
  token.id = id;
  token.normalized = normalized;
  token.special = special;
  return token;
}

NormalizerStep step(const char *name, const char *pattern = "", const char *content = "") {
  NormalizerStep result = NORMALIZER_TYPES.make(name);
  result.replacement.pattern = pattern;
  result.replacement.content = content;
  return result;
}

// Returns a tokenizer with a token for each byte, and three added tokens.
std::unique_ptr<Tokenizer> make(bool nfc, std::vector<NormalizerStep> steps) {
  TokenizerSpec spec;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    spec.vocabulary.bytes.push_back(static_cast<std::uint8_t>(byte));
    spec.vocabulary.lengths.push_back(1);
    spec.vocabulary.ids.push_back(byte);
  }
  spec.vocabulary.mergeable = 256;
  spec.preset = "gpt2";
  spec.nfc = spec.add_prefix_space = nfc;
  spec.steps = std::move(steps);
  spec.added = {added("<e>", 256, false, true), added("Ab", 257, true, false),
                added("Q!", 258, true, true)};
  std::unique_ptr<Tokenizer> tokenizer;
  expect(!make_tokenizer(std::move(spec), {}, tokenizer), "a valid spec gives a tokenizer");
  return tokenizer;
}

struct Result {
  std::vector<std::uint32_t> ids;
  Spans spans;
  Refusal refusal;
};

Result encode(const Tokenizer &tokenizer, const char *text, Treatment treatment) {
  const AddedTokenPhases search(tokenizer.search_for(tokenizer.added()).treating(treatment));
  const CacheLease cache(tokenizer.caches());
  IdBuffer ids;
  Result result;
  result.refusal = tokenizer.encode_spans(reinterpret_cast<const std::uint8_t *>(text),
                                          std::strlen(text), search, *cache, ids, result.spans);
  result.ids.assign(ids.data(), ids.data() + ids.size());
  return result;
}

void check(const Tokenizer &tokenizer, const char *text, const std::vector<std::uint32_t> &ids,
           const Offsets &starts, const Offsets &ends) {
  const Result result = encode(tokenizer, text, Treatment::ALLOW);
  expect(result.ids == ids && result.spans.starts == starts && result.spans.ends == ends, text);
}

} // namespace

int main() {
  const char *const text = "e\xCC\x81"
                           "a <e>\xEF\xAC\x81"
                           "B"; // e and an accent, and the ligature fi
  const auto nfc = make(true, {});
  check(*nfc, text, {32, 195, 169, 97, 32, 256, 32, 239, 172, 129, 66},
        {0, 0, 0, 3, 4, 5, 8, 8, 8, 8, 11}, {1, 1, 1, 4, 5, 8, 11, 11, 11, 11, 12});
  check(*nfc, "ABc", {32, 65, 66, 99}, {0, 0, 1, 2}, {1, 1, 2, 3}); // is in NFC
  check(*nfc, "Ab", {257}, {0}, {2});

  const auto chain = make(false, {step("NFKD"), step("Lowercase"), step("Replace", "b", "xyz"),
                                  step("Prepend", "", "_")});
  check(*chain, text, {95, 101, 204, 129, 97, 32, 256, 95, 102, 105, 120, 121, 122},
        {0, 0, 1, 1, 3, 4, 5, 8, 8, 8, 11, 11, 11},
        {1, 1, 3, 3, 4, 5, 8, 11, 11, 11, 12, 12, 12});
  check(*chain, "ABc", {257, 99}, {0, 2}, {2, 3});
  check(*chain, "<e>q!e\xCC\x81", {256, 258, 101, 204, 129}, {0, 3, 5, 6, 6}, {3, 5, 6, 8, 8});

  // Bytes that are not UTF-8 form no character, even if a step drops the text between them.
  const auto dropping = make(false, {step("Replace", "x", ""), step("Lowercase")});
  check(*dropping, "\xC3x\x89 \xC3\x89", {195, 137, 32, 195, 169}, {0, 2, 3, 4, 4},
        {1, 3, 4, 6, 6});
  const auto byte_level = make(false, {step("Replace", "x", ""), step("ByteLevel")});
  check(*byte_level, "\xC3x\x89", {195, 131, 196, 171}, {0, 0, 2, 2}, {1, 1, 3, 3});

  const auto lower = make(false, {step("NFKD"), step("Lowercase")});
  const Result refused = encode(*lower, "\xEF\xAC\x81 q!", Treatment::RAISE);
  expect(refused.refusal.token != nullptr && refused.refusal.position == 4 &&
             lower->original(*refused.refusal.token).content == "Q!",
         "a refused token has its place in the text");
  expect(encode(*lower, text, Treatment::RAISE).refusal.position == 5,
         "an exact token is refused at its place");
  return is_good ? 0 : 1;
}
