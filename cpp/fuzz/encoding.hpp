// Checks properties of encoding that hold for every vocabulary, for any added tokens, and for
// every text.
#pragma once

#include "core/base/ids.hpp"
#include "core/encode/encoder.hpp"
#include "core/encode/safe_cut_between.hpp"
#include "core/split/presets.hpp"
#include "fuzz/definition.hpp"

#include <memory>
#include <vector>

namespace pretok {

// Returns a built-in pre-tokenizer that removes no text. `number` chooses it.
inline const PreTokenizer &some_tokenizer(std::size_t number) {
  static std::vector<std::unique_ptr<PreTokenizer>> pre_tokenizers = [] {
    std::vector<std::unique_ptr<PreTokenizer>> result;
    for (std::size_t i = 0; i < preset_count(); ++i) {
      std::vector<StageProgram> stages;
      read_stages(preset_at(i).words(), stages);
      auto pre_tokenizer =
          std::make_unique<PreTokenizer>(stages, unicode_table(preset_at(i).unicode));
      if (!pre_tokenizer->removes())
        result.push_back(std::move(pre_tokenizer));
    }
    return result;
  }();
  return *pre_tokenizers[number % pre_tokenizers.size()];
}

inline std::vector<AddedToken> some_added(Input &input, Treatment &treatment) {
  static const std::string CONTENTS[] = {"<x>", "<",      "<x",       "x>", " ",
                                         "a",   "ab",     "word",     "\n", "\xE4\xB8\xAD",
                                         "1",   "<x><x>", "\xC3\xA9", "'s"};
  constexpr std::size_t CONTENT_COUNT = sizeof CONTENTS / sizeof *CONTENTS;
  std::vector<AddedToken> tokens;
  std::vector<bool> seen(CONTENT_COUNT);
  treatment = Treatment::ALLOW;
  for (std::size_t left = input.below(5); left != 0; --left) {
    const std::size_t index = input.below(CONTENT_COUNT);
    const std::uint8_t flags = input.byte();
    const auto id = static_cast<std::uint32_t>(1000 + index);
    if (!seen[index])
      tokens.push_back({CONTENTS[index], id, (flags & 1) != 0, (flags & 2) != 0,
                        (flags & 4) != 0, (flags & 8) != 0, (flags & 0x30) == 0x30});
    if ((flags & 0xC0) != 0)
      treatment = (flags & 0x80) != 0 ? Treatment::TEXT : Treatment::RAISE;
    seen[index] = true;
  }
  return tokens;
}

inline Ids ids_of(const Encoder &encoder, const AddedTokens &added, PreTokenCache &cache,
                  const std::uint8_t *data, std::size_t size, Refusal &refusal,
                  Encoder::Part which = Encoder::Part::FIRST) {
  IdBuffer ids;
  refusal = encoder.encode(data, size, added, cache, ids, which);
  return {ids.data(), ids.data() + ids.size()};
}

// Encodes a text, and checks these properties:
//   - the refused token, or else the ids, equal those of the slow definition;
//   - counting, and encoding with filled caches, agree with the ids;
//   - the spans of the ids are in order, and cover the text;
//   - both sides of a cut together have the ids of the whole text;
//   - the ids decode to the text, if there are no added tokens.
inline void check_encoding(const Example &example, const Vocabulary &vocabulary,
                           const Encoder &encoder, PreTokenCache &cache, Input &input) {
  static const CodePointRanges WORDS = {
      {'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {0xE9, 0xE9}, {0x4E00, 0x9FFF}};
  Treatment treatment;
  const std::vector<AddedToken> tokens = some_added(input, treatment);
  const AddedTokens added = AddedTokens(tokens, WORDS).treating(treatment);
  const std::size_t window_end = input.byte(); // in 255ths of the text
  const std::size_t window_size = input.byte();
  const std::vector<std::uint8_t> text = input.text();
  const std::string string(text.begin(), text.end());
  const Encoding expected =
      encoded(example, encoder.pre_tokenizer(), SlowAdded(tokens, WORDS, treatment),
              encoder.spaces().prefix != TextSpaces::Prefix::NONE, string);

  Refusal refusal;
  const Ids ids = ids_of(encoder, added, cache, text.data(), text.size(), refusal);
  const auto are_equal = [](const Refusal &a, const Refusal &b) {
    return (a.token == nullptr) == (b.token == nullptr) &&
           (a.token == nullptr ||
            (a.token->content == b.token->content && a.position == b.position));
  };
  check(are_equal(refusal, expected.refusal),
        "the fast and the slow search refuse the same token at the same position");
  if (refusal.token != nullptr)
    return;
  check(ids == expected.ids, "the ids equal those of the slow definition");
  std::size_t count = 0;
  encoder.count(text.data(), text.size(), added, cache, count);
  check(count == ids.size(), "count returns the number of ids");
  Refusal ignored;
  check(ids_of(encoder, added, cache, text.data(), text.size(), ignored) == ids,
        "encoding again with filled caches gives the same ids");

  bool all_ids_valid = true;
  std::string decoded;
  for (const std::uint32_t id : ids) {
    const TokenView token = vocabulary.token(id);
    all_ids_valid = all_ids_valid && id != NO_ID;
    decoded.append(reinterpret_cast<const char *>(token.bytes), token.size);
  }
  if (tokens.empty() && all_ids_valid && !text.empty()) {
    const bool adds_space =
        encoder.spaces().prefix != TextSpaces::Prefix::NONE && text[0] != ' ';
    check(decoded == (adds_space ? ' ' + string : string), "ids decode to the text");
  }
  if (all_ids_valid) {
    IdBuffer span_ids;
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    encoder.encode_spans(text.data(), text.size(), added, cache, span_ids, starts, ends);
    check(starts.size() == ids.size() && ends.size() == ids.size(), "each id has a span");
    std::int64_t at = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      // With `lstrip` or `rstrip`, the span of an added token includes the white space next to
      // it. Another added token may match this white space. Then the two spans overlap.
      check(added.strips() ? starts[i] <= at : starts[i] == at,
            "spans are in order and leave no gap");
      check(ends[i] >= (added.strips() ? starts[i] : at),
            "spans are in order and leave no gap");
      at = std::max(at, ends[i]);
    }
    check(static_cast<std::size_t>(at) == text.size(), "spans cover the text");
  }

  // Search a cut in the window (from, to]. Pass only the window and a margin around it, as
  // text_tasks.hpp does.
  const std::size_t to = text.size() * window_end / 255;
  const std::size_t from = to - std::min(to, window_size);
  const std::size_t margin = added.longest() + 4;
  std::size_t first = from - std::min(from, margin);
  while (first != 0 && (text[first] & 0xC0) == 0x80)
    --first;
  const std::size_t end = std::min(text.size(), to + margin);
  const std::vector<std::uint8_t> around(text.begin() + static_cast<std::ptrdiff_t>(first),
                                         text.begin() + static_cast<std::ptrdiff_t>(end));
  const std::size_t cut = safe_cut_between(encoder.pre_tokenizer(), &encoder, added,
                                           around.data(), from - first, to - first);
  if (cut == 0)
    return;
  check(first + cut > from && first + cut <= to, "a cut is within the window");
  Ids joined = ids_of(encoder, added, cache, text.data(), first + cut, ignored);
  const Ids right = ids_of(encoder, added, cache, text.data() + first + cut,
                           text.size() - first - cut, ignored, Encoder::Part::LATER);
  joined.insert(joined.end(), right.begin(), right.end());
  check(joined == ids, "both sides of a cut together have the ids of the whole text");
}

} // namespace pretok
