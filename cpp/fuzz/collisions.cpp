// Fuzzes the hash tables with entries whose hashes collide. Compares the contents of each table
// with a std::map. Also checks that OrderedMerges has few slots per merge.
//
// Each input uses one of five known hash keys. With some of them, all hashes collide. Programs
// use random hash keys, so an attacker cannot cause so many collisions.
#include "core/base/ids.hpp"
#include "core/base/short_key.hpp"
#include "core/bpe/ordered_merges.hpp"
#include "core/bpe/pair_table.hpp"
#include "core/bpe/token_table.hpp"
#include "core/cache/long_cache.hpp"
#include "core/cache/short_cache.hpp"
#include "core/train/pair_counts.hpp"
#include "core/train/word_table.hpp"
#include "fuzz/input.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pretok;

using Bytes = std::vector<std::uint8_t>;
using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Ids = std::vector<std::uint32_t>;

HashKey some_key(Input &input) {
  constexpr HashKey FIXED{0x243F6A8885A308D3, 0x13198A2E03707344};
  constexpr HashKey KEYS[] = {FIXED, {0, 0}, {FIXED.one, 0}, {0, FIXED.two}, {1, 1}};
  return KEYS[input.below(5)];
}

// Returns at most `max_size` bytes in an exact-size allocation. In half of the cases, the first
// eight bytes equal key.one. One factor of the hash is then 0.
Bytes some_bytes(Input &input, const HashKey &key, std::size_t max_size) {
  const std::uint8_t choices = input.byte();
  Bytes bytes;
  if ((choices & 1) != 0) {
    bytes.resize(sizeof key.one);
    std::memcpy(bytes.data(), &key.one, sizeof key.one);
  }
  for (std::size_t left = choices / 2 % 32; left != 0; --left)
    bytes.push_back(static_cast<std::uint8_t>(input.below(3)));
  bytes.push_back(choices >> 6);
  bytes.resize(std::min(bytes.size(), max_size));
  bytes.shrink_to_fit();
  return bytes;
}

std::vector<Bytes> some_strings(Input &input, const HashKey &key, std::size_t max_size) {
  std::vector<Bytes> strings;
  while (input.left() != 0 && strings.size() < 64)
    strings.push_back(some_bytes(input, key, max_size));
  return strings;
}

// Returns pairs of numbers below `limit`. Input bytes from 128 on give large numbers.
std::vector<Pair> some_pairs(Input &input, std::uint32_t limit) {
  std::vector<Pair> pairs;
  while (input.left() != 0 && pairs.size() < 64) {
    const std::uint8_t left = input.byte();
    const std::uint8_t right = input.byte();
    pairs.emplace_back((left * (left < 128 ? 1U : 0x4001U)) % limit,
                       (right * (right < 128 ? 1U : 0x4001U)) % limit);
  }
  return pairs;
}

const std::uint8_t *end_of(const Bytes &bytes) { return bytes.data() + bytes.size(); }

void check_tokens(Input &input, const HashKey &key) {
  const std::vector<Bytes> strings = some_strings(input, key, 40);
  Bytes all;
  for (const Bytes &bytes : strings)
    all.insert(all.end(), bytes.begin(), bytes.end());
  all.shrink_to_fit();
  std::vector<TokenView> tokens;
  const std::uint8_t *at = all.data();
  for (const Bytes &bytes : strings) {
    tokens.push_back({at, static_cast<std::uint32_t>(bytes.size())});
    at += bytes.size();
  }
  TokenTable table(tokens);
  for (const std::size_t size : {strings.size() / 2, strings.size()}) {
    Ids ids;
    std::map<Bytes, std::uint32_t> expected;
    for (std::uint32_t id = 0; id < size; ++id) {
      ids.push_back(id);
      expected.emplace(strings[id], id);
    }
    table.assign(ids, end_of(all));
    for (const Bytes &bytes : strings) {
      const auto entry = expected.find(bytes);
      check(table.find(bytes.data(), bytes.size(), end_of(bytes)) ==
                (entry == expected.end() ? NO_ID : entry->second),
            "the table gives the first id of each assigned token, and NO_ID for other bytes");
    }
  }
}

void check_pairs(Input &input) {
  PairTable table;
  table.reset(64 + input.below(8)); // some_pairs returns at most 64
  PairCounts counts;
  std::map<Pair, std::uint32_t> last_rank;
  std::map<Pair, std::int64_t> expected_count;
  std::uint32_t rank = 0;
  for (const Pair &pair : some_pairs(input, 0xFFFFFFFF)) {
    check((last_rank.count(pair) == 0) == (table.find(pair.first, pair.second).rank == NO_RANK),
          "the table contains exactly the inserted pairs");
    table.insert(pair.first, pair.second, {rank, rank});
    last_rank[pair] = rank++;
    counts.find_or_add(pair_key(pair.first, pair.second)).count += 1;
    ++expected_count[pair];
  }
  for (const auto &[pair, id] : last_rank) {
    check(table.find(pair.first, pair.second).id == id, "the last insertion of a pair wins");
    check(counts.find(pair_key(pair.first, pair.second))->count == expected_count[pair],
          "the count of a pair is the number of its insertions");
  }
}

void check_merges(Input &input) {
  const std::vector<Pair> pairs = some_pairs(input, OrderedMerges::MAX_SYMBOLS);
  std::array<std::uint32_t, 256> byte_ids{};
  static OrderedMerges merges; // static, to reuse its memory
  merges.reset(byte_ids, input.coin() ? pairs.size() : 0);
  std::map<Pair, std::uint32_t> expected;
  for (const auto &[left, right] : pairs) {
    const auto entry = expected.find({left, right});
    check(merges.find(left, right) ==
              (entry == expected.end() ? OrderedMerges::NO_MERGE : entry->second),
          "two symbols merge exactly if their merge was added");
    if (entry != expected.end())
      continue;
    const std::uint32_t symbol = merges.add(left, right, 0);
    const std::size_t needed_slots = std::max<std::size_t>(32, 4 * (expected.size() + 1));
    check(merges.slots() <= 4 * needed_slots, "a table has at most 4 times the needed slots");
    if (symbol == OrderedMerges::NO_MERGE)
      return; // The pairs collide with each key that the table tries. A Vocabulary then uses
              // another type of table.
    expected[{left, right}] = symbol;
  }
  for (const auto &[pair, symbol] : expected)
    check(merges.find(pair.first, pair.second) == symbol, "the table finds every merge");
}

void check_words(Input &input, const HashKey &key) {
  WordTable table;
  std::map<Bytes, std::int64_t> expected;
  std::vector<Bytes> order;
  for (const Bytes &word : some_strings(input, key, 40)) {
    if (expected[word]++ == 0)
      order.push_back(word);
    table.add({word.data(), word.size()}, 1, order.size());
  }
  const auto &words = table.finish();
  check(words.size() == order.size(), "each distinct word has one entry");
  for (std::size_t i = 0; i < order.size(); ++i)
    check(Bytes(words[i].data, words[i].data + words[i].size) == order[i] &&
              words[i].count == expected[order[i]],
          "words have their counts, in the order of their first occurrences");
}

void check_caches(Input &input, const HashKey &key) {
  CacheBudget budget(CacheBudget::DEFAULT_LIMIT);
  CacheAccount short_account(budget, CacheAccount::TOTAL_WEIGHT);
  CacheAccount long_account(budget, CacheAccount::TOTAL_WEIGHT);
  ShortCache shorts(6, short_account);
  LongCache longs(long_account);
  std::map<Bytes, Ids> expected;
  for (const Bytes &bytes : some_strings(input, key, 40)) {
    const Ids ids(1 + bytes.size() % 5, static_cast<std::uint32_t>(expected.size()));
    const bool is_new = expected.emplace(bytes, ids).second;
    if (bytes.size() <= ShortKey::MAX_BYTES) {
      const ShortKey short_key(bytes.data(), bytes.size(), end_of(bytes));
      const std::uint64_t hash = short_key.hash(shorts.key());
      if (const ShortCache::Entry *entry = shorts.find(short_key, hash)) {
        Ids cached_ids(ShortCache::MAX_IDS + ShortCache::PADDING);
        cached_ids.resize(ShortCache::copy(*entry, cached_ids.data()));
        check(cached_ids == expected[bytes], "the short cache returns the inserted ids");
      } else {
        shorts.insert(short_key, hash, expected[bytes].data(), expected[bytes].size());
      }
      continue;
    }
    const std::uint64_t hash = hash_long(bytes.data(), bytes.size(), longs.key());
    Ids cached_ids(bytes.size());
    cached_ids.resize(longs.copy(bytes.data(), bytes.size(), hash, cached_ids.data()));
    check(cached_ids.empty() || (!is_new && cached_ids == expected[bytes]),
          "the long cache returns the inserted ids");
    if (cached_ids.empty())
      longs.insert(bytes.data(), bytes.size(), hash, expected[bytes].data(),
                   expected[bytes].size());
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const HashKey key = some_key(input);
  set_hash_key(key);
  switch (input.below(5)) {
  case 0:
    check_tokens(input, key);
    break;
  case 1:
    check_pairs(input);
    break;
  case 2:
    check_merges(input);
    break;
  case 3:
    check_words(input, key);
    break;
  default:
    check_caches(input, key);
  }
  return 0;
}
