// Compares CharacterMerge with slow and simple code, on random tokens, merges and texts.
// tests/bpe/characters/test_character_merge.py compares it with Python.
#include "core/bpe/character_merge.hpp"
#include "core/unicode/utf8.hpp"

#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pretok;

std::mt19937 source(20261124);
std::size_t below(std::size_t limit) { return source() % limit; }
bool is_likely() { return below(2) == 0; }

// A first symbol or a merged one: its id, and the bytes that it stands for.
struct Symbol {
  std::uint32_t id;
  std::size_t width;
};

struct Example {
  CharacterData data;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Merged> merges;
};

Example random_example() {
  const std::size_t ids = is_likely() ? 40 : 9; // with few ids, merges chain over long runs
  const auto any_id = [ids] { return static_cast<std::uint32_t>(below(ids)); };
  Example example;
  CharacterData &data = example.data;
  const bool are_bytes = below(4) == 0;
  for (const std::uint32_t code : {0x61U, 0x62U, 0x63U, 0xE9U, 0x4E2DU, 0x1F600U})
    for (std::uint8_t place = 0; place < 4; ++place)
      if (is_likely() && !(are_bytes && code > 255))
        data.tokens.push_back({code, static_cast<CharacterPlace>(place), any_id()});
  if (is_likely())
    data.unknown = any_id();
  data.fuses_unknown = is_likely();
  if (are_bytes)
    for (std::size_t byte = 0; byte < 256; ++byte)
      data.byte_widths.push_back(byte < 128 ? 1 : 2);
  else if (is_likely())
    for (std::size_t byte = 0; byte < 256; ++byte)
      data.fallback.push_back(below(8) == 0 ? NO_ID : any_id());
  if (below(4) == 0)
    data.whole.push_back({{'a', 'b'}, any_id()});
  for (std::uint32_t rank = 0; rank < 30 + below(30); ++rank)
    example.merges[{any_id(), any_id()}] = {rank, any_id()};
  return example;
}

std::string random_text() {
  const std::vector<std::string> parts{
      "a", "b", "c", "\xC3\xA9", "\xE4\xB8\xAD", "d", "\xF0\x9F\x98\x80", "\xFF", "\xE4\xB8"};
  std::string text;
  const std::size_t few = 1 + below(is_likely() ? 2 : parts.size());
  for (std::size_t left = 1 + below(below(12) == 0 ? 1500 : 12); left != 0; --left)
    text += parts[below(few)];
  return text;
}

std::vector<Symbol> first_symbols(const CharacterData &data, const std::string &text) {
  const auto *const bytes = reinterpret_cast<const std::uint8_t *>(text.data());
  const bool are_bytes = !data.byte_widths.empty();
  std::vector<Symbol> symbols;
  Symbol pending{data.unknown, 0};
  const auto flush = [&] {
    if (pending.width != 0)
      symbols.push_back(pending);
    pending.width = 0;
  };
  for (std::size_t at = 0; at < text.size();) {
    Decoded character{bytes[at], 1};
    if (!are_bytes)
      character = decode_utf8(bytes + at, text.size() - at);
    const std::size_t width = are_bytes ? data.byte_widths[bytes[at]] : character.width;
    const int place = (at == 0 ? 1 : 0) + (at + character.width == text.size() ? 2 : 0);
    std::uint32_t id = NO_ID;
    for (const CharacterToken &token : data.tokens)
      if (token.code_point == character.code_point && static_cast<int>(token.place) == place)
        id = token.id;
    bool falls_back = id == NO_ID && !data.fallback.empty();
    for (std::size_t i = 0; i < character.width && falls_back; ++i)
      falls_back = data.fallback[bytes[at + i]] != NO_ID;
    if (id != NO_ID) {
      flush();
      symbols.push_back({id, width});
    } else if (falls_back) {
      for (std::size_t i = 0; i < character.width; ++i)
        symbols.push_back({data.fallback[bytes[at + i]], 1});
    } else if (data.unknown != NO_ID) {
      if (!data.fuses_unknown)
        flush();
      pending.width += width;
    }
    at += character.width;
  }
  flush();
  return symbols;
}

std::vector<Symbol> merged(const Example &example, const std::string &text) {
  for (const WholeToken &whole : example.data.whole)
    if (std::string(whole.bytes.begin(), whole.bytes.end()) == text)
      return {{whole.id, text.size()}};
  std::vector<Symbol> symbols = first_symbols(example.data, text);
  for (;;) {
    Merged best{NO_RANK, NO_ID};
    std::size_t place = 0;
    for (std::size_t at = 0; at + 1 < symbols.size(); ++at) {
      const auto found = example.merges.find({symbols[at].id, symbols[at + 1].id});
      if (found != example.merges.end() && found->second.rank < best.rank) {
        best = found->second;
        place = at;
      }
    }
    if (best.rank == NO_RANK)
      return symbols;
    symbols[place] = {best.id, symbols[place].width + symbols[place + 1].width};
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

bool agrees(const Example &example, const CharacterMerge &merge, const std::string &text) {
  const auto *const bytes = reinterpret_cast<const std::uint8_t *>(text.data());
  const std::vector<Symbol> expected = merged(example, text);
  std::vector<std::uint32_t> ids(text.size());
  ids.resize(merge.merge(bytes, text.size(), ids.data()));
  std::vector<CharacterMerge::Span> spans;
  merge.spans(bytes, text.size(), spans);
  bool is_equal = ids.size() == expected.size() && spans.size() == expected.size();
  std::size_t at = 0;
  for (std::size_t i = 0; is_equal && i < expected.size(); ++i) {
    is_equal = ids[i] == expected[i].id && spans[i].id == expected[i].id;
    // The test in Python compares the spans of GPT-2's characters.
    if (example.data.byte_widths.empty())
      is_equal &= spans[i].start == at && spans[i].end == at + expected[i].width;
    is_equal &= spans[i].end <= text.size();
    at += expected[i].width;
  }
  if (!is_equal)
    std::printf("CharacterMerge differs from slow code for a text of %zu bytes\n", text.size());
  return is_equal;
}

} // namespace

int main() {
  std::size_t long_texts = 0;
  for (int round = 0; round < 1500; ++round) {
    const Example example = random_example();
    PairTable pairs;
    pairs.reset(example.merges.size());
    for (const auto &[pair, result] : example.merges)
      pairs.insert(pair.first, pair.second, result);
    CharacterMerge merge;
    if (merge.build(CharacterData(example.data)) != nullptr)
      return 1;
    merge.use(pairs);
    for (int i = 0; i < 12; ++i) {
      const std::string text = random_text();
      long_texts += text.size() > 1000 ? 1 : 0;
      if (!agrees(example, merge, text))
        return 1;
    }
  }
  CharacterData wrong;
  wrong.fallback.resize(3);
  return long_texts > 100 && CharacterMerge().build(std::move(wrong)) != nullptr ? 0 : 1;
}
