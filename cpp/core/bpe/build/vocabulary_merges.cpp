// How the merges of a vocabulary follow from its ranks, or from a list of merges.
#include "core/bpe/vocabulary.hpp"

#include "core/base/prefetch.hpp"
#include "core/bpe/merge_windows.hpp"

#include <algorithm>
#include <cstring>

namespace pretok {
namespace {

bool are_parts(TokenView left, TokenView right, TokenView whole) {
  return std::uint64_t{left.size} + right.size == whole.size &&
         std::memcmp(left.bytes, whole.bytes, left.size) == 0 &&
         std::memcmp(right.bytes, whole.bytes + left.size, right.size) == 0;
}

using Parts = OrderedMerges::Parts;
constexpr Parts NO_PARTS{OrderedMerges::NONE, OrderedMerges::NONE};

bool are_known(Parts parts) {
  return parts.left != OrderedMerges::NONE && parts.right != OrderedMerges::NONE;
}

// What some tokens are likely made of. To see whether it is so takes many looks: their memory
// is asked for when parts are added.
class LikelyParts {
public:
  explicit LikelyParts(const OrderedMerges &merges)
      : merges_(merges), meetings_(TokenCuts::AT_ONCE * MOST) {
    clear();
  }

  void clear() {
    count_ = 0;
    ends_[0] = meetings_.data();
  }

  // The parts of the next token, of at most AT_ONCE; or NO_PARTS.
  void add(Parts parts) {
    Meeting *to = ends_[count_];
    const Meeting *const most = to + MOST;
    const auto put = [&](std::uint32_t left, std::uint32_t right, std::uint32_t until) {
      merges_.prefetch(left, right);
      *to++ = {left, right, until};
      return to != most;
    };
    if (are_known(parts) && put(parts.left, parts.right, OrderedMerges::NONE))
      merges_.for_meetings(parts.left, parts.right, put);
    parts_[count_] = to != most ? parts : NO_PARTS;
    ends_[++count_] = to;
  }

  // Those of the `which`th token, if they stay apart, or NO_PARTS.
  Parts sure(std::size_t which) const {
    for (const Meeting *at = ends_[which]; at != ends_[which + 1]; ++at)
      if (merges_.find(at->left, at->right) < at->until)
        return NO_PARTS;
    return parts_[which];
  }

private:
  static constexpr std::size_t MOST = 64; // meetings of a token: few have more

  struct Meeting { // as for_meetings says
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t until;
  };

  const OrderedMerges &merges_;
  std::vector<Meeting> meetings_;
  std::array<Parts, TokenCuts::AT_ONCE> parts_;
  std::array<Meeting *, TokenCuts::AT_ONCE + 1> ends_;
  std::size_t count_ = 0;
};

} // namespace

// With ranks alone, a token is made of the two lower ones that have its bytes and that lower
// ranks leave apart, if there are such two, wherever it is made: nothing that a token is made
// of has merged with what is around it, so its bytes merge as they do by themselves. They are
// not in order if a token is made of others than lower ones.
bool Vocabulary::order_ranks(const std::vector<std::uint32_t> &ids) {
  constexpr std::uint32_t NONE = OrderedMerges::NONE;
  merges_.reset(byte_ids_, ids.size());
  TokenCuts cuts(tokens_, ids);
  // Of the tokens, by their places in `ids`; NONE before it is made.
  std::vector<std::uint32_t> symbols(ids.size(), NONE);
  for (std::uint32_t byte = 0; byte < OrderedMerges::BYTES; ++byte) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), byte_ids_[byte]);
    symbols[static_cast<std::size_t>(at - ids.begin())] = byte;
  }
  const auto symbol_of = [&](const std::uint8_t *bytes, std::size_t size) {
    if (size <= TokenCuts::MOST_BYTES) {
      const std::uint32_t place = cuts.find(bytes, size);
      return place == TokenCuts::NONE ? NONE : symbols[place];
    }
    const std::uint32_t id = whole_.find(bytes, size, bytes + size);
    const auto at = std::lower_bound(ids.begin(), ids.end(), id);
    return at == ids.end() || *at != id ? NONE
                                        : symbols[static_cast<std::size_t>(at - ids.begin())];
  };
  // Tries one after the other.
  const auto parts_of = [&](TokenView token, std::size_t which) {
    if (token.size > TokenCuts::MOST_BYTES) { // is merged: that is linear
      std::vector<std::uint32_t> merged(token.size);
      if (merge_ordered(token.bytes, token.size, merged.data()) != 2)
        return NO_PARTS;
      const std::uint32_t size = tokens_[merged[0]].size;
      return Parts{symbol_of(token.bytes, size),
                   symbol_of(token.bytes + size, token.size - size)};
    }
    for (const TokenCuts::Cut *cut = cuts.begin(which); cut != cuts.end(which); ++cut) {
      const Parts parts{symbols[cut->left], symbols[cut->right]};
      if (are_known(parts) && merges_.stay_apart(parts.left, parts.right))
        return parts;
    }
    return NO_PARTS;
  };
  // Mostly it is the cut whose later part is the earliest.
  const auto likely_parts_of = [&](std::size_t which) {
    Parts best = NO_PARTS;
    for (const TokenCuts::Cut *cut = cuts.begin(which); cut != cuts.end(which); ++cut) {
      const Parts parts{symbols[cut->left], symbols[cut->right]};
      if (std::max(parts.left, parts.right) < std::max(best.left, best.right))
        best = parts;
    }
    return best;
  };
  LikelyParts likely(merges_);
  for (std::size_t first = 0; first < ids.size(); first += TokenCuts::AT_ONCE) {
    const std::size_t count = std::min(ids.size() - first, TokenCuts::AT_ONCE);
    cuts.read_more();
    likely.clear();
    for (std::size_t i = 0; i < count; ++i)
      likely.add(likely_parts_of(i));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t id = ids[first + i];
      const TokenView token = tokens_[id];
      if (token.size == 1)
        continue;
      Parts parts = likely.sure(i);
      if (!are_known(parts))
        parts = parts_of(token, i);
      Merge merge{};
      if (are_known(parts)) {
        symbols[first + i] = merges_.add(parts.left, parts.right, id);
        if (symbols[first + i] == NONE)
          return false;
      } else if (makes_from_higher(id, merge)) {
        return false;
      }
    }
  }
  // Hashes that were alike by chance: what makes no use of them is slower, but right.
  return merges_fit();
}

// The same where it is known what tokens are likely made of. Returns false also if they are
// not: each token has to be made of the parts that are named, or, where none are, of what its
// bytes merge into.
bool Vocabulary::order_likely(const std::vector<std::uint32_t> &ids,
                              const std::vector<Merge> &likely) {
  constexpr std::uint32_t NONE = OrderedMerges::NONE;
  const auto is_token = [&](std::uint32_t id) { return id < tokens_.size(); };
  if (likely.empty() || !std::all_of(likely.begin(), likely.end(), [&](const Merge &merge) {
        return is_token(merge.left) && is_token(merge.right);
      }))
    return false;
  merges_.reset(byte_ids_, ids.size());
  std::vector<std::uint32_t> symbols(tokens_.size(), NONE); // by id
  for (std::uint32_t byte = 0; byte < OrderedMerges::BYTES; ++byte)
    symbols[byte_ids_[byte]] = byte;
  LikelyParts batch(merges_);
  std::vector<std::uint32_t> merged;
  auto next = likely.begin();
  for (std::size_t first = 0; first < ids.size(); first += TokenCuts::AT_ONCE) {
    const std::size_t count = std::min(ids.size() - first, TokenCuts::AT_ONCE);
    batch.clear();
    auto named = next;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_named = named != likely.end() && named->id == ids[first + i];
      batch.add(is_named ? Parts{symbols[named->left], symbols[named->right]} : NO_PARTS);
      named += is_named ? 1 : 0;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t id = ids[first + i];
      const TokenView token = tokens_[id];
      Parts parts = batch.sure(i);
      if (next != likely.end() && next->id == id) {
        if (!are_known(parts)) { // made by what this batch has added, or of too many parts
          parts = {symbols[next->left], symbols[next->right]};
          if (!are_known(parts) || !merges_.stay_apart(parts.left, parts.right))
            return false;
        }
        ++next;
      } else if (token.size > 1) {
        Merge merge{};
        merged.resize(token.size);
        if (merge_ordered(token.bytes, token.size, merged.data()) == 2)
          parts = {symbols[merged[0]], symbols[merged[1]]};
        else if (makes_from_higher(id, merge))
          return false;
      }
      if (are_known(parts)) {
        symbols[id] = merges_.add(parts.left, parts.right, id);
        if (symbols[id] == NONE)
          return false;
      }
    }
  }
  return next == likely.end() && merges_fit();
}

// Whether each symbol has the bytes of its parts, one behind the other.
bool Vocabulary::merges_fit() const {
  constexpr std::uint32_t AHEAD = 16;
  for (std::uint32_t symbol = OrderedMerges::BYTES; symbol < merges_.size(); ++symbol) {
    if (symbol + AHEAD < merges_.size()) {
      const OrderedMerges::Parts ahead = merges_.parts(symbol + AHEAD);
      prefetch(&tokens_[merges_.id(ahead.left)]);
      prefetch(&tokens_[merges_.id(ahead.right)]);
    }
    if (symbol + AHEAD / 2 < merges_.size()) {
      const OrderedMerges::Parts ahead = merges_.parts(symbol + AHEAD / 2);
      prefetch(tokens_[merges_.id(ahead.left)].bytes);
      prefetch(tokens_[merges_.id(ahead.right)].bytes);
    }
    const OrderedMerges::Parts parts = merges_.parts(symbol);
    if (!are_parts(tokens_[merges_.id(parts.left)], tokens_[merges_.id(parts.right)],
                   tokens_[merges_.id(symbol)]))
      return false;
  }
  return true;
}

// Whether a token's bytes come to two others with all ranks but its own.
bool Vocabulary::makes_from_higher(std::uint32_t id, Merge &merge) const {
  const TokenView token = tokens_[id];
  std::vector<std::uint32_t> symbols(token.size);
  for (std::uint32_t i = 0; i < token.size; ++i)
    symbols[i] = byte_ids_[token.bytes[i]];
  std::vector<std::uint8_t> both;
  merge_long(symbols, [&](std::uint32_t left, std::uint32_t right) {
    const TokenView a = tokens_[left];
    const TokenView b = tokens_[right];
    both.assign(a.bytes, a.bytes + a.size);
    both.insert(both.end(), b.bytes, b.bytes + b.size);
    const std::uint32_t result =
        whole_.find(both.data(), both.size(), both.data() + both.size());
    return result == NO_ID || result == id ? Merged{NO_RANK, NO_ID} : Merged{result, result};
  });
  if (symbols.size() != 2)
    return false;
  merge = {symbols[0], symbols[1], id};
  return true;
}

void Vocabulary::pairs_from_ranks(const std::vector<std::uint32_t> &ids) {
  pairs_.reset(ids.size());
  std::vector<std::uint32_t> parts;
  for (const std::uint32_t id : ids) {
    const TokenView token = tokens_[id];
    if (token.size == 1)
      continue;
    // All lower ranks are in the table, and only those.
    parts.resize(token.size);
    Merge merge{};
    if (merge_in_any_order(token.bytes, token.size, parts.data()) == 2)
      pairs_.insert(parts[0], parts[1], {id, id});
    else if (makes_from_higher(id, merge))
      pairs_.insert(merge.left, merge.right, {id, id});
  }
}

// Files that list every way to cut a token in two have merges that never happen: those of a
// token that is made already, and those of two parts that lower ranks do not leave apart. They
// are left out.
bool Vocabulary::order_merges(const std::vector<Merge> &merges) {
  merges_.reset(byte_ids_, merges.size());
  std::vector<std::uint32_t> symbols(tokens_.size(), OrderedMerges::NONE);
  for (std::uint32_t byte = 0; byte < OrderedMerges::BYTES; ++byte)
    if (byte_ids_[byte] != NO_ID)
      symbols[byte_ids_[byte]] = byte;
  std::vector<std::uint32_t> unmade; // parts that no merge made before they were named
  for (const Merge &merge : merges) {
    const std::uint32_t left = symbols[merge.left];
    const std::uint32_t right = symbols[merge.right];
    if (left == OrderedMerges::NONE || right == OrderedMerges::NONE) {
      unmade.push_back(left == OrderedMerges::NONE ? merge.left : merge.right);
      continue;
    }
    if (merges_.find(left, right) != OrderedMerges::NONE)
      return false; // the same two again
    if (symbols[merge.id] == OrderedMerges::NONE && merges_.stay_apart(left, right)) {
      symbols[merge.id] = merges_.add(left, right, merge.id);
      if (symbols[merge.id] == OrderedMerges::NONE)
        return false;
    }
  }
  return std::all_of(unmade.begin(), unmade.end(), [&symbols](std::uint32_t part) {
    return symbols[part] == OrderedMerges::NONE;
  });
}

void Vocabulary::pairs_from_merges(const std::vector<Merge> &merges) {
  pairs_.reset(merges.size());
  std::uint32_t rank = 0;
  for (const Merge &merge : merges)
    pairs_.insert(merge.left, merge.right, {rank++, merge.id});
}

} // namespace pretok
