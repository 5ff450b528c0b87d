// Checks that keys chosen by an attacker make no table slow or large, and that sizes do not
// overflow.
#include "core/base/hash.hpp"
#include "core/base/id_buffer.hpp"
#include "core/base/sizes.hpp"
#include "core/bpe/ordered_merges.hpp"
#include "core/bpe/pair_table.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/train/learned_tokens.hpp"
#include "core/train/pair_counts.hpp"
#include "core/train/word_counts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace pretok;

using Pairs = std::vector<std::array<std::uint32_t, 2>>;

std::mt19937_64 source(20261122);

HashKey random_key() { return {source(), source()}; }

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Returns the time of `work` for `chosen` divided by its time for `ordinary`. Uses the fastest
// of up to four runs of each, because other processes only slow a run down.
template <typename Keys, typename Work>
double excess(const Keys &chosen, const Keys &ordinary, Work work) {
  double slow = 1e9;
  double usual = 1e9;
  for (int tries = 0; tries < 4 && (tries == 0 || slow > 4 * usual); ++tries) {
    const double start = seconds();
    work(ordinary);
    const double middle = seconds();
    work(chosen);
    usual = std::min(usual, middle - start);
    slow = std::min(slow, seconds() - middle);
  }
  return slow / std::max(usual, 1e-3);
}

constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd; // each step of Newton's method doubles the correct bits
  for (int i = 0; i < 6; ++i)
    inverse *= 2 - odd * inverse;
  return inverse;
}

// Pairs whose hashes had the same low 32 bits when the hash function had no key.
Pairs pairs_that_collided(std::size_t count) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t product = std::uint64_t{i} << 32 | i;
    const std::uint64_t shifted = product * inverse_of(0x9E3779B97F4A7C15);
    const std::uint64_t pair = shifted ^ shifted >> 29 ^ shifted >> 58;
    pairs.push_back({static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair)});
  }
  return pairs;
}

Pairs random_pairs(std::size_t count) {
  Pairs pairs(count);
  for (auto &pair : pairs)
    pair = {static_cast<std::uint32_t>(source()), static_cast<std::uint32_t>(source())};
  return pairs;
}

// Pairs that an attacker could choose must not take much longer than random pairs.
bool pairs_take_the_usual_time() {
  constexpr std::size_t COUNT = 30000;
  const auto table = [](const Pairs &pairs) {
    PairTable merges;
    merges.reset(pairs.size());
    for (const auto &[left, right] : pairs)
      merges.insert(left, right, {left, right});
  };
  const auto counts = [](const Pairs &pairs) {
    PairCounts counted;
    for (const auto &[left, right] : pairs)
      ++counted.find_or_add(pair_key(left, right)).count;
  };
  const Pairs chosen = pairs_that_collided(COUNT);
  const Pairs ordinary = random_pairs(COUNT);
  return excess(chosen, ordinary, table) < 10 && excess(chosen, ordinary, counts) < 10;
}

// Returns two strings of 1,024 letters. With `collide`, they are Thue-Morse strings, which have
// the same polynomial hash modulo 2^64 for any odd base.
std::array<std::string, 2> two_parts(bool collide) {
  std::array<std::string, 2> parts{"a", "b"};
  for (int i = 0; i < 10; ++i)
    parts = {parts[0] + parts[collide ? 1 : 0], parts[1] + parts[collide ? 0 : 1]};
  return parts;
}

// Makes a text of 500 random `parts`, and learns tokens of 2, 4, 8, and 16 consecutive parts,
// at each place of the text. Then looks up random pairs of tokens of 8 parts. Returns how many
// of these pairs are learned tokens.
std::size_t join_parts(const std::array<std::string, 2> &parts) {
  constexpr std::size_t COUNT = 500;
  constexpr int LOOK_UPS = 40000;
  LearnedTokens tokens;
  for (std::uint32_t byte = 0; byte < 256; ++byte)
    tokens.add_initial(&byte, 1);
  const auto join = [&tokens](LearnedTokens::Symbol left, LearnedTokens::Symbol right) {
    const LearnedTokens::Symbol known = tokens.find(left, right);
    return known != LearnedTokens::NO_SYMBOL ? known : tokens.add(left, right, true);
  };
  std::array<LearnedTokens::Symbol, 2> last_tokens{};
  for (std::size_t which = 0; which < 2; ++which) {
    last_tokens[which] = static_cast<std::uint8_t>(parts[which][0]);
    for (std::size_t i = 1; i < parts[which].size(); ++i)
      last_tokens[which] = join(last_tokens[which], static_cast<std::uint8_t>(parts[which][i]));
  }
  std::mt19937 random(1);
  std::vector<LearnedTokens::Symbol> level;
  for (std::size_t i = 0; i < COUNT; ++i)
    level.push_back(last_tokens[random() >> 16 & 1]);
  std::vector<LearnedTokens::Symbol> eights;
  for (std::size_t width = 1; width < 16; width *= 2) {
    if (width == 8)
      eights = level;
    for (std::size_t i = 0; i + 2 * width <= COUNT; ++i)
      level[i] = join(level[i], level[i + width]);
  }
  std::size_t known = 0;
  for (int i = 0; i < LOOK_UPS; ++i) {
    const LearnedTokens::Symbol left = eights[random() % COUNT];
    known += tokens.find(left, eights[random() % COUNT]) != LearnedTokens::NO_SYMBOL;
  }
  return known;
}

// Strings with equal polynomial hashes must not take much longer than other strings. A table
// with such hashes would compare each text with those of all tokens of the same length.
bool joined_tokens_take_the_usual_time() {
  std::size_t known = 0;
  const auto join = [&known](const auto &parts) { known += join_parts(parts); };
  return excess(two_parts(true), two_parts(false), join) < 10 && known > 0;
}

// Chooses eight pairs that have the same two buckets, which together have only four slots. The
// table must store all eight pairs without more slots.
bool ordered_merges_stay_small() {
  const HashKey key = random_key();
  set_hash_key(key);
  constexpr std::uint32_t SYMBOLS = 3000;
  // Pairs by the hash bits that select both buckets in tables of at most 2^10 buckets.
  std::map<std::uint64_t, Pairs> alike;
  Pairs chosen;
  for (std::uint32_t left = 256; left < SYMBOLS && chosen.empty(); ++left)
    for (std::uint32_t right = 256; right < SYMBOLS; ++right) {
      const std::uint64_t hash = hash_pair(left, right, key);
      Pairs &known = alike[hash >> 54 << 10 | (hash >> 20 & 0x3FF)];
      known.push_back({left, right});
      if (known.size() == 8) {
        chosen = known;
        break;
      }
    }
  if (chosen.empty())
    return false;
  std::array<std::uint32_t, 256> byte_ids{};
  for (std::uint32_t byte = 0; byte < 256; ++byte)
    byte_ids[byte] = byte;
  OrderedMerges merges;
  merges.reset(byte_ids, chosen.size());
  const std::size_t slots = merges.slots();
  std::vector<std::uint32_t> symbols;
  for (const auto &[left, right] : chosen)
    symbols.push_back(
        merges.add(left, right, 256 + static_cast<std::uint32_t>(symbols.size())));
  bool are_there = true;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    are_there = are_there && symbols[i] == 256 + i &&
                merges.find(chosen[i][0], chosen[i][1]) == symbols[i];
  return are_there && merges.slots() == slots;
}

// If a table cannot store its pairs, it must report the failure and stay within its memory
// limit.
bool ordered_merges_give_up() {
  std::array<std::uint32_t, 256> byte_ids{};
  OrderedMerges merges;
  merges.reset(byte_ids, 5);
  const std::size_t slots = merges.slots();
  std::uint32_t added = 0;
  for (int i = 0; i < 5; ++i) // two buckets have four slots, too few for five equal pairs
    added = merges.add(300, 300, 7);
  return added == OrderedMerges::NO_MERGE && merges.slots() <= 4 * slots;
}

// Similar strings must have distinct hashes.
bool long_hashes_differ() {
  for (const HashKey &key : {random_key(), random_key(), random_key()}) {
    std::set<std::uint64_t> seen;
    std::size_t count = 0;
    for (std::size_t size = 16; size < 100; ++size)
      for (std::size_t at = 0; at < size; ++at)
        for (const int value : {0, 1, 0x80}) {
          std::vector<std::uint8_t> bytes(size, 0x20);
          bytes[at] = static_cast<std::uint8_t>(value);
          seen.insert(hash_long(bytes.data(), size, key));
          ++count;
        }
    if (seen.size() != count)
      return false;
  }
  return true;
}

// A table that must be rebuilt takes the next key. These keys must all be distinct.
bool keys_do_not_repeat() {
  HashKey key = hash_key();
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i, key = key.next()) {
    seen.insert(key.one);
    seen.insert(key.two);
  }
  return seen.size() == 2000;
}

// Saturating arithmetic must stop at the largest value of its type.
bool sizes_stop_at_the_largest() {
  constexpr std::uint32_t MAX_SIZE = std::numeric_limits<std::uint32_t>::max();
  static_assert(saturating_add<std::uint32_t>(MAX_SIZE - 2, 2) == MAX_SIZE);
  static_assert(saturating_add<std::uint32_t>(MAX_SIZE - 2, 3) == MAX_SIZE);
  static_assert(saturating_add<std::uint8_t>(200, 100) == 255);
  static_assert(saturating_multiply<std::uint32_t>(1U << 28, 15) == 15U << 28);
  static_assert(saturating_multiply<std::uint32_t>(1U << 28, 16) == MAX_SIZE);
  static_assert(saturating_multiply<std::uint32_t>(0, MAX_SIZE) == 0);
  static_assert(saturating_multiply<std::uint32_t>(MAX_SIZE, 0) == 0);
  // A window that grows by multiplication, as in safe_cut, must reach the largest size.
  std::uint32_t window = 1024;
  for (int i = 0; i < 8; ++i)
    window = saturating_multiply<std::uint32_t>(window, 16);
  return window == MAX_SIZE;
}

// Returns whether asking an IdBuffer for room for so many ids throws std::bad_alloc.
bool throws_bad_alloc(std::size_t ids) {
  IdBuffer buffer;
  try {
    buffer.room(ids);
  } catch (const std::bad_alloc &) {
    return true;
  }
  return false;
}

// An earlier version computed `capacity * 4` in a size_t, which overflowed.
bool id_buffers_do_not_wrap() {
  constexpr std::size_t MAX_SIZE = std::numeric_limits<std::size_t>::max();
  return throws_bad_alloc(MAX_SIZE / 4 + 2) && throws_bad_alloc(MAX_SIZE / 8 + 1) &&
         throws_bad_alloc(MAX_SIZE);
}

// An IdBuffer that writes to an array of the caller must not replace the array by a smaller
// one.
bool lent_memory_is_left_alone() {
  std::vector<std::uint32_t> lent(100000);
  IdBuffer buffer(lent.data(), lent.size());
  *buffer.room(1) = 7;
  buffer.add(1);
  buffer.fit();
  return buffer.data() == lent.data() && buffer.size() == 1 && lent[0] == 7;
}

// If the number of threads is 0, the calling thread must do the work.
bool zero_threads_count_as_one() {
  WordCounts counts;
  const std::string word = "word";
  counts.add_word({reinterpret_cast<const std::uint8_t *>(word.data()), word.size()}, 3);
  WordTable table = counts.take(0);
  return table.finish().size() == 1;
}

static_assert(!std::is_copy_constructible_v<Vocabulary> &&
                  !std::is_copy_assignable_v<Vocabulary>,
              "the tables of a vocabulary point into its bytes");

} // namespace

int main() {
  struct Test {
    const char *name;
    bool (*passes)();
  };
  const Test tests[] = {
      {"chosen pairs take as long as random pairs", pairs_take_the_usual_time},
      {"chosen tokens take as long as others", joined_tokens_take_the_usual_time},
      {"colliding pairs do not enlarge OrderedMerges", ordered_merges_stay_small},
      {"OrderedMerges reports pairs that it cannot store", ordered_merges_give_up},
      {"similar long strings have distinct hashes", long_hashes_differ},
      {"hash keys do not repeat", keys_do_not_repeat},
      {"saturating arithmetic stops at the largest value", sizes_stop_at_the_largest},
      {"sizes of id buffers do not overflow", id_buffers_do_not_wrap},
      {"an id buffer keeps the array of its caller", lent_memory_is_left_alone},
      {"zero threads count as one", zero_threads_count_as_one},
  };
  int failed = 0;
  for (const Test &test : tests)
    if (!test.passes()) {
      std::printf("failed: %s\n", test.name);
      ++failed;
    }
  std::printf("%zu passed, %d failed\n", std::size(tests) - static_cast<std::size_t>(failed),
              failed);
  return failed != 0;
}
