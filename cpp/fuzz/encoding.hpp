// What has to hold of encoding, with any vocabulary, added tokens, and text.
#pragma once

#include "core/base/ids.hpp"
#include "core/encode/encoder.hpp"
#include "core/encode/safe_cut_between.hpp"
#include "core/split/presets.hpp"
#include "fuzz/definition.hpp"

#include <memory>
#include <vector>

namespace pretok {

// A preset that keeps all of its text.
inline const PreTokenizer &some_tokenizer(std::size_t number) {
  static std::vector<std::unique_ptr<PreTokenizer>> known = [] {
    std::vector<std::unique_ptr<PreTokenizer>> made;
    for (std::size_t i = 0; i < preset_count(); ++i) {
      std::vector<StageProgram> stages;
      read_stages(preset_at(i).words, preset_at(i).word_count, stages);
      auto one = std::make_unique<PreTokenizer>(stages, unicode_table(preset_at(i).unicode));
      if (!one->removes())
        made.push_back(std::move(one));
    }
    return made;
  }();
  return *known[number % known.size()];
}

inline std::vector<AddedToken> some_added(Input &input, Treatment &treatment) {
  static const std::string CONTENTS[] = {"<x>", "<",      "<x",       "x>", " ",
                                         "a",   "ab",     "word",     "\n", "\xE4\xB8\xAD",
                                         "1",   "<x><x>", "\xC3\xA9", "'s"};
  constexpr std::size_t KINDS = sizeof CONTENTS / sizeof *CONTENTS;
  std::vector<AddedToken> tokens;
  std::vector<bool> seen(KINDS);
  treatment = Treatment::ALLOW;
  for (std::size_t left = input.below(5); left != 0; --left) {
    const std::size_t which = input.below(KINDS);
    const std::uint8_t flags = input.byte();
    const auto id = static_cast<std::uint32_t>(1000 + which);
    if (!seen[which])
      tokens.push_back({CONTENTS[which], id, (flags & 1) != 0, (flags & 2) != 0,
                        (flags & 4) != 0, (flags & 8) != 0, (flags & 0x30) == 0x30});
    if ((flags & 0xC0) != 0)
      treatment = (flags & 0x80) != 0 ? Treatment::TEXT : Treatment::RAISE;
    seen[which] = true;
  }
  return tokens;
}

inline Ids ids_of(const Encoder &encoder, const AddedTokens &added, PreTokenCache &cache,
                  const std::uint8_t *data, std::size_t size, Refusal &refusal) {
  IdBuffer ids;
  refusal = encoder.encode(data, size, added, cache, ids);
  return {ids.data(), ids.data() + ids.size()};
}

// `text` is encoded as it is defined; the spans of ids follow each other; both sides of a cut
// within are encoded as the whole is; and ids decode to the text.
inline void check_encoding(const Example &example, const Vocabulary &vocabulary,
                           const Encoder &encoder, PreTokenCache &cache, Input &input) {
  static const CodePointRanges WORDS = {
      {'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {0xE9, 0xE9}, {0x4E00, 0x9FFF}};
  Treatment treatment;
  const std::vector<AddedToken> tokens = some_added(input, treatment);
  const AddedTokens added = AddedTokens(tokens, WORDS).treating(treatment);
  const std::size_t place = input.byte();
  const std::size_t window = input.byte();
  const std::vector<std::uint8_t> text = input.text();
  const std::string string(text.begin(), text.end());
  const Encoding expected =
      encoded(example, encoder.pre_tokenizer(), SlowAdded(tokens, WORDS, treatment),
              encoder.add_prefix_space(), string);

  Refusal refusal;
  const Ids ids = ids_of(encoder, added, cache, text.data(), text.size(), refusal);
  const auto same = [](const Refusal &a, const Refusal &b) {
    return (a.token == nullptr) == (b.token == nullptr) &&
           (a.token == nullptr ||
            (a.token->content == b.token->content && a.position == b.position));
  };
  check(same(refusal, expected.refusal), "the same token is refused at the same place");
  if (refusal.token != nullptr)
    return;
  check(ids == expected.ids, "ids are as they are defined");
  std::size_t count = 0;
  encoder.count(text.data(), text.size(), added, cache, count);
  check(count == ids.size(), "as many ids are counted");
  Refusal ignored;
  check(ids_of(encoder, added, cache, text.data(), text.size(), ignored) == ids,
        "ids are the same when all is known");

  bool all_known = true;
  std::string decoded;
  for (const std::uint32_t id : ids) {
    const TokenView token = vocabulary.token(id);
    all_known = all_known && id != NO_ID;
    decoded.append(reinterpret_cast<const char *>(token.bytes), token.size);
  }
  if (tokens.empty() && all_known && !text.empty()) {
    const bool prefixed = encoder.add_prefix_space() && text[0] != ' ';
    check(decoded == (prefixed ? ' ' + string : string), "ids decode to the text");
  }
  if (all_known) {
    IdBuffer again;
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    encoder.encode_spans(text.data(), text.size(), added, cache, again, starts, ends);
    check(starts.size() == ids.size() && ends.size() == ids.size(), "each id has a span");
    std::int64_t at = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      // White space that a token took along may be a token itself.
      check(added.strips() ? starts[i] <= at : starts[i] == at, "spans follow each other");
      check(ends[i] >= (added.strips() ? starts[i] : at), "spans follow each other");
      at = std::max(at, ends[i]);
    }
    check(static_cast<std::size_t>(at) == text.size(), "spans cover the text");
  }

  // The cut is looked for as a task does that sees only what is around.
  const std::size_t to = text.size() * place / 255;
  const std::size_t from = to - std::min(to, window);
  const std::size_t margin = added.longest() + 4;
  std::size_t first = from - std::min(from, margin);
  while (first != 0 && (text[first] & 0xC0) == 0x80)
    --first;
  const std::size_t end = std::min(text.size(), to + margin);
  const std::vector<std::uint8_t> around(text.begin() + static_cast<std::ptrdiff_t>(first),
                                         text.begin() + static_cast<std::ptrdiff_t>(end));
  const std::size_t cut =
      safe_cut_between(encoder.pre_tokenizer(), added, encoder.add_prefix_space(),
                       around.data(), around.size(), from - first, to - first);
  if (cut == 0)
    return;
  check(first + cut > from && first + cut <= to, "a cut is where it was asked for");
  Ids both = ids_of(encoder, added, cache, text.data(), first + cut, ignored);
  const Ids behind = ids_of(encoder, added, cache, text.data() + first + cut,
                            text.size() - first - cut, ignored);
  both.insert(both.end(), behind.begin(), behind.end());
  check(both == ids, "both sides of a cut are encoded as the whole is");
}

} // namespace pretok
