#include "formats/piece_merges.hpp"

#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace pretok {
namespace {

// The maximum length of a run, a text that repeats one character, such as "▁▁▁". Finding the
// pieces of a run takes cubic time, so a longer run would take too long.
constexpr std::size_t MAX_RUN = 64;

const std::uint8_t *run_bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// Two adjacent symbols of a run, by their lengths in characters.
struct Pair {
  std::size_t left;
  std::size_t right;

  bool operator==(const Pair &other) const {
    return left == other.left && right == other.right;
  }
};

// The pieces of a run, by their lengths in characters.
class Runs {
public:
  bool add(std::size_t length, std::uint32_t id) {
    if (length > MAX_RUN)
      return false;
    ids_[length] = id;
    longest_ = std::max(longest_, length);
    return true;
  }

  // Sets pairs() to the pairs that merge, in order of rank. Pairs with a longer left symbol
  // come first, so the first symbol of a run grows until it is the longest piece. SentencePiece
  // merges the leftmost pair of equal scores first, with the same effect. Returns false if some
  // run becomes different pieces by these ranks.
  bool order_pairs() {
    // Runs of more than 2 * longest_ characters need no check: they begin with the longest
    // piece, and the remaining characters merge like a shorter run.
    if (!repeats())
      return false;
    for (std::size_t size = 2; size <= 2 * longest_; ++size) {
      std::vector<std::size_t> symbols(size, 1);
      for (std::size_t at = 0; (at = leftmost(symbols)) + 1 < symbols.size();) {
        const Pair pair{symbols[at], symbols[at + 1]};
        if (std::find(pairs_.begin(), pairs_.end(), pair) == pairs_.end())
          pairs_.push_back(pair);
        merge(symbols, at);
      }
    }
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair &a, const Pair &b) {
      return a.left != b.left ? a.left > b.left : a.right > b.right;
    });
    for (std::size_t size = 2; size <= 2 * longest_; ++size)
      if (merged(size, [this](const auto &symbols) { return leftmost(symbols); }) !=
          merged(size, [this](const auto &symbols) { return lowest(symbols); }))
        return false;
    return true;
  }

  const std::vector<Pair> &pairs() const { return pairs_; }
  std::uint32_t id(std::size_t length) const { return ids_[length]; }

private:
  bool is_piece(std::size_t length) const {
    return length <= longest_ && ids_[length] != NO_ID;
  }

  // Returns whether the first symbol becomes the longest piece before other symbols merge.
  bool repeats() const {
    std::vector<std::size_t> symbols(2 * longest_, 1);
    while (symbols[0] < longest_) {
      const std::size_t at = leftmost(symbols);
      if (at + 1 >= symbols.size())
        return false;
      merge(symbols, at);
    }
    return std::all_of(symbols.begin() + 1, symbols.end(),
                       [](std::size_t length) { return length == 1; });
  }

  // Return the index of the left symbol of the next pair to merge: the leftmost pair, or the
  // pair with the lowest rank. If no pair merges, return the index of the last symbol.
  std::size_t leftmost(const std::vector<std::size_t> &symbols) const {
    std::size_t at = 0;
    while (at + 1 < symbols.size() && !is_piece(symbols[at] + symbols[at + 1]))
      ++at;
    return at;
  }
  std::size_t lowest(const std::vector<std::size_t> &symbols) const {
    for (const Pair &pair : pairs_)
      for (std::size_t at = 0; at + 1 < symbols.size(); ++at)
        if (pair == Pair{symbols[at], symbols[at + 1]})
          return at;
    return symbols.size() - 1;
  }

  static void merge(std::vector<std::size_t> &symbols, std::size_t at) {
    symbols[at] += symbols[at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }

  // Returns the lengths of the pieces of a run of `size` characters.
  template <typename Next> static std::vector<std::size_t> merged(std::size_t size, Next next) {
    std::vector<std::size_t> symbols(size, 1);
    for (std::size_t at = 0; (at = next(symbols)) + 1 < symbols.size();)
      merge(symbols, at);
    return symbols;
  }

  std::array<std::uint32_t, MAX_RUN + 1> ids_ = all_free();
  std::size_t longest_ = 1;
  std::vector<Pair> pairs_;

  static std::array<std::uint32_t, MAX_RUN + 1> all_free() {
    std::array<std::uint32_t, MAX_RUN + 1> ids{};
    ids.fill(NO_ID);
    return ids;
  }
};

} // namespace

bool find_run_merges(const ScoredPieces &pieces, const std::vector<std::uint32_t> &words,
                     const std::vector<std::uint32_t> &runs, std::vector<Merge> &merges) {
  const std::string_view first = pieces.texts[runs[0]];
  const std::string_view character =
      first.substr(0, decode_utf8(run_bytes(first), first.size()).width);
  const auto one = std::find(pieces.texts.begin(), pieces.texts.end(), character);
  if (one == pieces.texts.end())
    return false;
  Runs by_length;
  by_length.add(1, pieces.ids[static_cast<std::size_t>(one - pieces.texts.begin())]);
  for (const std::uint32_t run : runs) {
    std::string_view rest = pieces.texts[run];
    std::size_t length = 0;
    for (; rest.substr(0, character.size()) == character; ++length)
      rest.remove_prefix(character.size());
    if (!rest.empty() || !by_length.add(length, pieces.ids[run]))
      return false;
  }
  // No word may have the character twice in a row. Then the characters of a run that the merges
  // of words leave merge only with each other.
  const std::string two = std::string(character) + std::string(character);
  if (std::any_of(words.begin(), words.end(), [&](std::uint32_t word) {
        const std::string_view text = pieces.texts[word];
        if (text.size() < two.size())
          return false;
        // The second character of `two` is not in the ASCII end of a word. This test is faster
        // than `find`, and most words are "▁" and ASCII.
        if (character.size() > 1 &&
            is_ascii(run_bytes(text) + character.size(), text.size() - character.size()))
          return false;
        return text.find(two) != std::string_view::npos;
      }))
    return false;
  if (!by_length.order_pairs())
    return false;
  for (const auto &[left, right] : by_length.pairs())
    merges.push_back({by_length.id(left), by_length.id(right), by_length.id(left + right)});
  return true;
}

} // namespace pretok
