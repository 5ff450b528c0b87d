// Compares merging in rounds with merging by a heap, and merging of short runs with slow code.
#include "tests/slow_merging.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace {

using namespace pretok;
using namespace pretok::slow_merging;

// Compares merge_long, which uses a heap, with merge_in_rounds, on random symbols and merges.
// The ranks of the merges are in any order. Skips an input if merge_in_rounds refuses it.
bool rounds_agree() {
  std::size_t done = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t letters = 1 + below(4);
    std::map<std::pair<std::uint32_t, std::uint32_t>, Merged> merges;
    std::vector<std::uint32_t> ranks(1 + below(12));
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      ranks[rank] = rank;
    if (below(2) == 0)
      std::shuffle(ranks.begin(), ranks.end(), source);
    std::uint32_t symbols = letters;
    for (const std::uint32_t rank : ranks)
      if (merges.emplace(std::make_pair(below(symbols), below(symbols)), Merged{rank, symbols})
              .second)
        ++symbols;
    const auto find = [&merges](std::uint32_t left, std::uint32_t right) {
      const auto found = merges.find({left, right});
      return found == merges.end() ? Merged{NO_RANK, NO_ID} : found->second;
    };
    std::vector<std::uint32_t> by_heap(1 + below(200));
    const std::size_t period = 1 + below(6);
    for (std::size_t i = 0; i < by_heap.size(); ++i)
      by_heap[i] = i >= period && below(20) != 0 ? by_heap[i - period] : below(letters);
    std::vector<std::uint32_t> in_rounds = by_heap;
    merge_long(by_heap, find);
    if (!merge_in_rounds(in_rounds, find)) {
      ++refused;
      continue;
    }
    ++done;
    if (in_rounds != by_heap) {
      std::printf("merging in rounds differs from merging with a heap\n");
      return false;
    }
  }
  return done > 500 && refused > 100;
}

// Returns a vocabulary of runs of "a" and "b". `merges` has some ways to split each token, in
// an order that sometimes ranks a token before its parts.
Example runs_example() {
  Example example;
  for (std::size_t byte = 0; byte < 256; ++byte)
    example.tokens.emplace_back(1, static_cast<char>(byte));
  std::set<std::string> known;
  for (std::size_t left = 2 + below(10); left > 0; --left) {
    const auto any = [&] {
      return known.empty() || below(3) == 0 ? std::string(1, below(2) == 0 ? 'a' : 'b')
                                            : example.tokens[256 + below(known.size())];
    };
    const std::string token = any() + any();
    if (token.size() <= 6 && known.insert(token).second)
      example.tokens.push_back(token);
  }
  VocabularyData &data = example.data;
  std::map<std::string, std::uint32_t> ids;
  for (std::uint32_t id = 0; id < example.tokens.size(); ++id) {
    const std::string &token = example.tokens[id];
    ids[token] = id;
    data.bytes.insert(data.bytes.end(), token.begin(), token.end());
    data.lengths.push_back(static_cast<std::uint32_t>(token.size()));
    data.ids.push_back(id);
  }
  for (const auto &[token, id] : ids)
    for (std::size_t at = 1; at < token.size(); ++at)
      if (ids.count(token.substr(0, at)) != 0 && ids.count(token.substr(at)) != 0 &&
          below(4) != 0)
        data.merges.push_back({ids[token.substr(0, at)], ids[token.substr(at)], id});
  std::sort(data.merges.begin(), data.merges.end(),
            [](const Merge &a, const Merge &b) { return a.id < b.id; });
  for (std::size_t swaps = below(3); swaps > 0 && !data.merges.empty(); --swaps)
    std::swap(data.merges[below(data.merges.size())], data.merges[below(data.merges.size())]);
  std::uint32_t rank = 0;
  for (const Merge &merge : data.merges)
    example.ranks[{merge.left, merge.right}] = {rank++, merge.id};
  data.mergeable = data.ids.size();
  data.from_ranks = data.ignore_merges = false;
  return example;
}

// Compares all short texts of "a" and "b".
bool runs_agree() {
  constexpr std::size_t LONGEST = 7;
  std::size_t ordered = 0;
  constexpr std::size_t ROUNDS = 1500;
  for (std::size_t round = 0; round < ROUNDS; ++round) {
    const Example example = runs_example();
    Vocabulary vocabulary;
    VocabularyData data = example.data;
    if (vocabulary.build(std::move(data)) != nullptr)
      return false;
    ordered += vocabulary.is_in_order() ? 1 : 0;
    for (std::size_t size = 1; size <= LONGEST; ++size)
      for (std::size_t bits = 0; bits < std::size_t{1} << size; ++bits) {
        std::string text(size, 'a');
        for (std::size_t i = 0; i < size; ++i)
          text[i] = (bits >> i & 1) != 0 ? 'b' : 'a';
        Ids ids(size);
        ids.resize(vocabulary.encode(bytes_of(text), size, bytes_of(text) + size, ids.data()));
        if (ids != merged(example, text)) {
          std::printf("\"%s\" differs\n", text.c_str());
          return false;
        }
      }
  }
  return ordered != 0 && ordered != ROUNDS;
}

} // namespace

int main() {
  if (!rounds_agree() || !runs_agree()) {
    std::printf("0 passed, 1 failed\n");
    return 1;
  }
  std::printf("2 passed, 0 failed\n");
  return 0;
}
