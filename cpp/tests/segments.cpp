// Compares SegmentSplitter with the boundaries that MergeBarriers reports and with the ASCII
// pairs of the merges, on random vocabularies and texts, for every set of kernels that the
// processor can run.
#include "core/base/ascii_pairs.hpp"
#include "core/bpe/segment_splitter.hpp"
#include "core/simd/kernels.hpp"
#include "tests/slow_merging.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace {

using namespace pretok;
using namespace pretok::slow_merging;

// Returns bytes of which most are ASCII, in a vector without room for more.
std::vector<std::uint8_t> random_bytes(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  const std::size_t limit = below(3) == 0 ? 256 : 0x80;
  for (std::uint8_t &byte : bytes)
    byte = static_cast<std::uint8_t>(below(40) == 0 ? below(256) : below(limit));
  return bytes;
}

// Tests the kernel find_absent_pairs of `kernels`.
bool pairs_agree(const Kernels &kernels) {
  for (int round = 0; round < 3000; ++round) {
    AsciiPairs pairs;
    for (std::size_t i = below(12000); i > 0; --i)
      pairs.add(static_cast<std::uint32_t>(below(128)), static_cast<std::uint32_t>(below(128)));
    const std::vector<std::uint8_t> bytes = random_bytes(2 + below(300));
    const std::size_t size = bytes.size() - 1;
    std::vector<std::uint64_t> absent((size + 63) / 64);
    std::vector<std::uint64_t> beyond(absent.size());
    std::size_t count_beyond = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool is_beyond = bytes[i + 1] >= 0x80;
      count_beyond += is_beyond ? 1 : 0;
      beyond[i / 64] |= std::uint64_t{is_beyond} << i % 64;
      if (bytes[i] < 0x80 && !is_beyond && !pairs.has(bytes[i], bytes[i + 1]))
        absent[i / 64] |= std::uint64_t{1} << i % 64;
    }
    std::vector<std::uint64_t> found_absent(absent.size(), 1);
    std::vector<std::uint64_t> found_beyond(absent.size(), 1);
    if (kernels.find_absent_pairs(pairs, bytes.data() + 1, size, found_absent.data(),
                                  found_beyond.data()) != count_beyond ||
        found_absent != absent || found_beyond != beyond) {
      std::printf("a kernel find_absent_pairs finds other pairs\n");
      return false;
    }
  }
  return true;
}

// A vocabulary of random merges, and the pairs of ASCII characters that they join.
struct Merges {
  VocabularyData data;
  std::set<std::pair<int, int>> pairs;
};

Merges random_merges() {
  static const std::string CHARACTERS[] = {" ", "\n", "a",  "b",  "é",
                                           "ж", "中", "国", "😀", "😁"};
  Merges merges;
  VocabularyData &data = merges.data;
  std::vector<std::string> tokens;
  std::map<std::string, std::uint32_t> ids;
  const auto add = [&](const std::string &token) {
    ids[token] = static_cast<std::uint32_t>(tokens.size());
    data.ids.push_back(ids[token]);
    data.bytes.insert(data.bytes.end(), token.begin(), token.end());
    data.lengths.push_back(static_cast<std::uint32_t>(token.size()));
    tokens.push_back(token);
  };
  for (std::size_t byte = 0; byte < 256; ++byte)
    add(std::string(1, static_cast<char>(byte)));
  const auto join = [&](const std::string &left, const std::string &right) {
    if (ids.count(left + right) != 0)
      return;
    add(left + right);
    data.merges.push_back({ids[left], ids[right], ids[left + right]});
    const int last = static_cast<std::uint8_t>(left.back());
    const int first = static_cast<std::uint8_t>(right.front());
    if (last < 0x80 && first < 0x80)
      merges.pairs.emplace(last, first);
  };
  // Merge the bytes of most characters, and then random tokens.
  for (const std::string &character : CHARACTERS)
    for (std::size_t size = 1; size < character.size() && below(8) != 0; ++size)
      join(character.substr(0, size), character.substr(size, 1));
  for (std::size_t left = below(30); left > 0; --left) {
    const auto any = [&] {
      if (below(3) == 0)
        return tokens[below(tokens.size())];
      const std::string &character = CHARACTERS[below(std::size(CHARACTERS))];
      return ids.count(character) != 0 ? character : tokens[below(tokens.size())];
    };
    join(any(), any());
  }
  data.mergeable = data.ids.size();
  data.from_ranks = data.ignore_merges = false;
  return merges;
}

std::string random_text() {
  static const std::string PIECES[] = {" ",  "\n", "a",  "b",    "c",    "é",   "ж",
                                       "中", "国", "😀", "\xE4", "\x9F", "\xF0"};
  std::string text(below(3) == 0 ? 1020 + below(10) : 0, 'a'); // near the end of a block
  // A third of the texts are ASCII, and another third mostly ASCII.
  const std::size_t mode = below(3);
  for (std::size_t left = 1 + below(500); left > 0; --left) {
    const bool is_any = mode == 2 || (mode == 1 && below(10) == 0);
    text += PIECES[below(is_any ? std::size(PIECES) : 5)];
  }
  return text;
}

std::vector<std::size_t> expected_ends(const Merges &merges, const MergeBarriers &barriers,
                                       const std::string &text) {
  std::vector<std::size_t> ends;
  barriers.for_boundaries(bytes_of(text), text.size(), [&](std::size_t at, bool is_barrier) {
    const std::pair<int, int> pair(bytes_of(text)[at - 1], bytes_of(text)[at]);
    if (is_barrier ||
        (pair.first < 0x80 && pair.second < 0x80 && merges.pairs.count(pair) == 0))
      ends.push_back(at);
  });
  ends.push_back(text.size());
  return ends;
}

bool splitters_agree() {
  std::size_t segments = 0;
  for (int round = 0; round < 100; ++round) {
    Merges merges = random_merges();
    Vocabulary vocabulary;
    VocabularyData data = merges.data;
    if (vocabulary.build(std::move(data)) != nullptr || vocabulary.barriers() == nullptr) {
      std::printf("a vocabulary has no barriers\n");
      return false;
    }
    for (int number = 0; number < 30; ++number) {
      const std::string text = random_text();
      // A copy of the exact size lets a sanitizer catch reads after its end.
      const std::vector<std::uint8_t> bytes(text.begin(), text.end());
      const std::vector<std::size_t> expected =
          expected_ends(merges, *vocabulary.barriers(), text);
      segments += expected.size();
      for (const Kernels *use : all_kernels()) {
        SegmentSplitter splitter(*vocabulary.barriers(), *use, bytes.data(), bytes.size());
        std::array<std::size_t, SegmentSplitter::MAX_ENDS> block;
        std::vector<std::size_t> ends;
        while (const std::size_t count = splitter.next(block.data()))
          ends.insert(ends.end(), block.begin(), block.begin() + count);
        if (ends != expected || splitter.next(block.data()) != 0) {
          std::printf("the %s kernels find other segments\n", use->name);
          return false;
        }
      }
    }
  }
  return segments > 100000;
}

} // namespace

int main() {
  std::size_t passed = 0;
  bool are_right = true;
  for (const Kernels *kernels : all_kernels())
    if (kernels->find_absent_pairs != nullptr) {
      are_right &= pairs_agree(*kernels);
      passed += are_right ? 1 : 0;
    }
  const bool agree = splitters_agree();
  passed += agree ? 1 : 0;
  are_right &= agree;
  std::printf("%zu passed, %d failed\n", passed, are_right ? 0 : 1);
  return are_right ? 0 : 1;
}
