// Compares encoding with a slow and simple encoder on random vocabularies and texts.
#include "core/encode/encoder.hpp"
#include "core/split/presets.hpp"
#include "tests/slow_merging.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pretok;
using namespace pretok::slow_merging;

// The number of examples with an ordered vocabulary, and of all others. In an ordered
// vocabulary, each token has one merge, which ranks after the merges of its two parts.
std::size_t in_order = 0;
std::size_t in_any_order = 0;
// The number of examples with unreachable tokens: merging their own bytes does not make them.
std::size_t with_unreachable = 0;

std::string random_text(std::size_t limit) {
  static const char *const PARTS[] = {"a",
                                      "b",
                                      "ab",
                                      "ba",
                                      "aa",
                                      " ",
                                      " a",
                                      "1",
                                      "1",
                                      "\n",
                                      "'s",
                                      "\xE4\xB8\xAD",
                                      "\xE4\xB8\x80",
                                      "\xD0\xBE",
                                      "\xD1\x80",
                                      "\xFF",
                                      "\xE6\xB8\xAD",
                                      "\xF0\x9F\x98\x80",
                                      "\xF0\x9F\x98\x80",
                                      "\xF0\x9F\x98\x81",
                                      "\xF0\x9F\x91\x80",
                                      "\xF0\x9D\x91\x80",
                                      "\xE2\x80\x8D",
                                      "\xC2\xA9",
                                      "\xC2\xA9\x80",
                                      "\x98",
                                      "\x80",
                                      "\xF0\x9F"};
  // The encoder divides pre-tokens of Chinese text into segments, between positions that no
  // merge crosses.
  static const char *const CHINESE[] = {"\xE4\xB8\xAD", "\xE4\xB8\x80", "\xE6\xB8\xAD",
                                        "\xE6\x96\x87", "\xE3\x80\x82"};
  const bool is_chinese = below(3) == 0;
  std::string text;
  for (std::size_t left = below(limit); left > 0; --left)
    text += is_chinese && below(4) != 0 ? CHINESE[below(std::size(CHINESE))]
                                        : PARTS[below(std::size(PARTS))];
  return text;
}

// Returns a random text. If `trained`, returns two bytes of a text or, mostly, the
// concatenation of two tokens, as training makes tokens.
std::string random_token(const std::vector<std::string> &tokens, bool trained) {
  if (!trained)
    return random_text(4) + random_text(4);
  // The two neighbouring bytes may belong to different characters.
  const std::string pair = random_text(6);
  if (below(4) == 0 && pair.size() >= 2)
    return pair.substr(below(pair.size() - 1), 2);
  const auto any = [&tokens] {
    if (tokens.size() > 256 && below(3) != 0)
      return tokens[256 + below(tokens.size() - 256)];
    const std::string text = random_text(3);
    return text.empty() ? std::string("a") : text.substr(below(text.size()), 1);
  };
  return any() + any();
}

// Returns a vocabulary with the 256 byte tokens in any order, and longer tokens. Merging does
// not make some of the longer tokens. If `from_ranks`, the id of a token is the rank of its
// merges.
Example random_example(bool from_ranks) {
  const bool trained = below(3) != 0;
  Example example;
  for (std::size_t byte = 0; byte < 256; ++byte)
    example.tokens.emplace_back(1, static_cast<char>(byte));
  std::shuffle(example.tokens.begin(), example.tokens.end(), source);
  std::set<std::string> known(example.tokens.begin(), example.tokens.end());
  for (std::size_t left = below(trained ? 120 : 60); left > 0; --left) {
    const std::string token = random_token(example.tokens, trained);
    if (!token.empty() && token.size() < 40 && known.insert(token).second)
      example.tokens.push_back(token);
  }
  VocabularyData &data = example.data;
  data.from_ranks = from_ranks;
  data.ignore_merges = from_ranks || below(2) == 0;
  data.mergeable = example.tokens.size();
  std::map<std::string, std::uint32_t> ids;
  for (std::uint32_t id = 0; id < example.tokens.size(); ++id)
    ids.emplace(example.tokens[id], id);
  for (std::uint32_t id = 0; id < example.tokens.size(); ++id) {
    const std::string &token = example.tokens[id];
    data.bytes.insert(data.bytes.end(), token.begin(), token.end());
    data.lengths.push_back(static_cast<std::uint32_t>(token.size()));
    data.ids.push_back(id);
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::size_t at = 1; at < token.size(); ++at) {
      const auto left = ids.find(token.substr(0, at));
      const auto right = ids.find(token.substr(at));
      if (left != ids.end() && right != ids.end())
        pairs.emplace(left->second, right->second);
    }
    for (const auto &[left, right] : pairs)
      if (from_ranks)
        example.ranks[{left, right}] = {id, id};
      else if (trained || below(2) == 0)
        data.merges.push_back({left, right, id});
  }
  // The merges of a trained vocabulary are in the order of the tokens that they make, and
  // include every split of a token into two tokens.
  if (!trained)
    std::shuffle(data.merges.begin(), data.merges.end(), source);
  std::uint32_t rank = 0;
  for (const Merge &merge : data.merges)
    example.ranks[{merge.left, merge.right}] = {rank++, merge.id};
  return example;
}

// Encodes by slow and simple code. First splits `text` at the added tokens. If several added
// tokens begin at the same position, the longest one counts.
Ids encoded(const Example &example, const PreTokenizer &tokenizer,
            const std::vector<AddedToken> &added, const std::string &text) {
  Ids ids;
  std::string before;
  const auto finish = [&] {
    tokenizer.steps(Utf8(bytes_of(before), before.size(), tokenizer.classes()),
                    [&](std::size_t start, std::size_t end, int) {
                      for (const std::uint32_t id :
                           merged(example, before.substr(start, end - start)))
                        ids.push_back(id);
                    });
    before.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken *match = nullptr;
    for (const AddedToken &token : added)
      if (text.compare(at, token.content.size(), token.content) == 0 &&
          (match == nullptr || match->content.size() < token.content.size()))
        match = &token;
    if (match == nullptr) {
      before += text[at++];
      continue;
    }
    finish();
    ids.push_back(match->id);
    at += match->content.size();
  }
  finish();
  return ids;
}

// Returns a long pre-token, mostly of random runs of "a" and "b" and of repeated texts, which
// have many possible merges.
std::string long_pre_token() {
  if (below(4) == 0)
    return random_text(200) + "a";
  std::string text;
  const std::size_t size = 50 + below(800);
  const std::string period = random_text(1 + below(8));
  while (text.size() < size)
    text += below(4) == 0 && !period.empty()
                ? period + period + period
                : std::string(1 + below(9), below(2) == 0 ? 'a' : 'b');
  return text;
}

bool agree_on_long(const Example &example, const Vocabulary &vocabulary) {
  const std::string text = long_pre_token();
  Ids ids(text.size());
  ids.resize(
      vocabulary.encode(bytes_of(text), text.size(), bytes_of(text) + text.size(), ids.data()));
  if (ids == merged(example, text))
    return true;
  std::printf("a long pre-token differs: %s\n", text.c_str());
  return false;
}

// Some hash keys make all entries of a table collide.
HashKey any_key() {
  const auto word = [] { return std::uint64_t{source()} << 32 | source(); };
  return below(4) == 0 ? HashKey{0, 0} : HashKey{word(), word()};
}

bool agree(const Example &example, const PreTokenizer &tokenizer) {
  set_hash_key(any_key());
  Vocabulary vocabulary;
  VocabularyData data = example.data;
  if (const char *wrong = vocabulary.build(std::move(data))) {
    std::printf("%s\n", wrong);
    return false;
  }
  ++(vocabulary.is_in_order() ? in_order : in_any_order);
  with_unreachable += vocabulary.unreachable_tokens().is_empty() ? 0 : 1;
  for (int round = 0; round < 3; ++round)
    if (!agree_on_long(example, vocabulary))
      return false;
  std::map<std::string, AddedToken> contents;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::string content = random_text(3);
    if (!content.empty() && content.find('\xFF') == std::string::npos)
      contents[content] = {content, 1000 + i, false, false, false, false, false};
  }
  std::vector<AddedToken> added;
  for (const auto &[content, token] : contents)
    added.push_back(token);
  const Encoder encoder(tokenizer, vocabulary, TextSpaces());
  const CacheLease cache(encoder.caches());
  for (int round = 0; round < 60; ++round) {
    const bool with_added = round % 2 == 0;
    const std::vector<AddedToken> looked_for = with_added ? added : std::vector<AddedToken>();
    const std::string text = random_text(round % 10 == 0 ? 600 : 12);
    IdBuffer ids;
    std::size_t count = 0;
    const AddedTokens finder(looked_for, {});
    encoder.encode(bytes_of(text), text.size(), finder, *cache, ids);
    encoder.count(bytes_of(text), text.size(), finder, *cache, count);
    const Ids expected = encoded(example, tokenizer, looked_for, text);
    if (Ids(ids.data(), ids.data() + ids.size()) != expected || count != expected.size()) {
      std::printf("wrong ids (got %zu ids, expected %zu) for:", ids.size(), expected.size());
      for (const char byte : text)
        std::printf(" %02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      std::printf("\n");
      return false;
    }
  }
  return true;
}

} // namespace

int main() {
  std::size_t passed = 0;
  for (std::size_t index = 0; index < preset_count(); ++index) {
    const Preset &preset = preset_at(index);
    std::vector<StageProgram> stages;
    if (!read_stages(preset.words(), stages).empty())
      return 1;
    const PreTokenizer tokenizer(stages, unicode_table(preset.unicode));
    for (int round = 0; round < 20; ++round) {
      if (!agree(random_example(round % 2 == 0), tokenizer)) {
        std::printf("%s\n0 passed, 1 failed\n", preset.names);
        return 1;
      }
      ++passed;
    }
  }
  if (in_order == 0 || in_any_order == 0 || with_unreachable == 0) {
    std::printf("expected examples with ordered merges, with unordered merges, and with "
                "unreachable tokens\n0 passed, 1 failed\n");
    return 1;
  }
  std::printf("%zu passed, 0 failed; merges in order in %zu, unreachable tokens in %zu\n",
              passed, in_order, with_unreachable);
  return 0;
}
