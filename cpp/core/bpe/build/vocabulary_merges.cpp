// Derives the merges of a vocabulary from its ranks, or from a list of merges.
//
// A symbol is the number of a byte or of a merge in OrderedMerges. The parts of a token are the
// two symbols that a merge joins to make it. Two symbols are a valid pair if no merge crosses
// the boundary between them (ordered_merges.hpp).
#include "core/base/ids.hpp"
#include "core/base/prefetch.hpp"
#include "core/bpe/build/split_candidates.hpp"
#include "core/bpe/build/token_splits.hpp"
#include "core/bpe/build/vocabulary_builder.hpp"
#include "core/bpe/merge.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace pretok {
namespace {

// Returns whether the bytes of `left` and `right`, concatenated, are the bytes of `whole`.
bool are_parts(TokenView left, TokenView right, TokenView whole) {
  return std::uint64_t{left.size} + right.size == whole.size &&
         std::memcmp(left.bytes, whole.bytes, left.size) == 0 &&
         std::memcmp(right.bytes, whole.bytes + left.size, right.size) == 0;
}

} // namespace

// Empties `merges_`, and makes room for `count` merges. Returns byte_symbols().
std::vector<std::uint32_t> Vocabulary::Builder::reset_merges(std::size_t count) {
  vocabulary_.merges_.reset(vocabulary_.byte_ids_, count);
  return byte_symbols();
}

// Returns the symbol of each token, by id. A token of one byte has this byte as its symbol. All
// other tokens have NO_MERGE.
std::vector<std::uint32_t> Vocabulary::Builder::byte_symbols() const {
  std::vector<std::uint32_t> symbols(vocabulary_.tokens_.size(), OrderedMerges::NO_MERGE);
  for (std::uint32_t byte = 0; byte < OrderedMerges::BYTES; ++byte)
    if (vocabulary_.byte_ids_[byte] != NO_ID)
      symbols[vocabulary_.byte_ids_[byte]] = byte;
  return symbols;
}

// Returns the id of each byte of a token.
std::vector<std::uint32_t> Vocabulary::Builder::byte_ids_of(TokenView token) const {
  std::vector<std::uint32_t> ids(token.size);
  for (std::uint32_t i = 0; i < token.size; ++i)
    ids[i] = vocabulary_.byte_ids_[token.bytes[i]];
  return ids;
}

// Derives ordered merges from ranks alone. The two parts of a token, if they exist, are tokens
// with lower ids that concatenate to the token, and that are a valid pair under the merges of
// lower rank. The token has these parts in any text: until the token is made, none of its bytes
// merges with a neighbor of the token, so its bytes merge as they do alone. Returns false if a
// token is made of tokens with higher ids, if OrderedMerges cannot hold the merges, or if
// hashes collide.
bool Vocabulary::Builder::order_ranks(const std::vector<std::uint32_t> &ids) {
  constexpr std::uint32_t NO_MERGE = OrderedMerges::NO_MERGE;
  ordered_count_ = kept_ = 0;
  vocabulary_.merges_.reset(vocabulary_.byte_ids_, ids.size());
  TokenSplits splits(vocabulary_.tokens_, ids);
  // The symbol of each token, by place; NO_MERGE until it has one.
  std::vector<std::uint32_t> symbols(ids.size(), NO_MERGE);
  for (std::uint32_t byte = 0; byte < OrderedMerges::BYTES; ++byte) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), vocabulary_.byte_ids_[byte]);
    symbols[static_cast<std::size_t>(at - ids.begin())] = byte;
  }
  const auto symbol_of = [&](const std::uint8_t *bytes, std::size_t size) {
    if (size <= TokenSplits::MAX_BYTES) {
      const std::uint32_t place = splits.find(bytes, size);
      return place == TokenSplits::NO_PLACE ? NO_MERGE : symbols[place];
    }
    const std::uint32_t id = find_token(bytes, size);
    const auto at = std::lower_bound(ids.begin(), ids.end(), id);
    return at == ids.end() || *at != id ? NO_MERGE
                                        : symbols[static_cast<std::size_t>(at - ids.begin())];
  };
  // Returns the parts of token i of the batch, or NO_PARTS. Tries all splits in turn.
  const auto parts_of = [&](TokenView token, std::size_t i) {
    // Merging takes linear time, but trying all splits does not. So merge a long token.
    if (token.size > TokenSplits::MAX_BYTES) {
      std::vector<std::uint32_t> merged(token.size);
      if (vocabulary_.merge_ordered(token.bytes, token.size, merged.data()) != 2)
        return NO_PARTS;
      const std::uint32_t size = vocabulary_.tokens_[merged[0]].size;
      return Parts{symbol_of(token.bytes, size),
                   symbol_of(token.bytes + size, token.size - size)};
    }
    for (const TokenSplits::Split *split = splits.begin(i); split != splits.end(i); ++split) {
      const Parts parts{symbols[split->left], symbols[split->right]};
      if (are_known(parts) && vocabulary_.merges_.is_valid_pair(parts.left, parts.right))
        return parts;
    }
    return NO_PARTS;
  };
  // Returns the parts that are probably correct. Each split has a part that ranks later than
  // the other part. In the correct split, the rank of the later part is usually lower than in
  // all other splits.
  const auto likely_parts_of = [&](std::size_t i) {
    Parts best = NO_PARTS;
    for (const TokenSplits::Split *split = splits.begin(i); split != splits.end(i); ++split) {
      // Branchless: it is unpredictable which split is better.
      const Parts parts{symbols[split->left], symbols[split->right]};
      const bool is_better =
          std::max(parts.left, parts.right) < std::max(best.left, best.right);
      best.left = is_better ? parts.left : best.left;
      best.right = is_better ? parts.right : best.right;
    }
    return best;
  };
  SplitCandidates likely(vocabulary_.merges_);
  for (std::size_t first = 0; first < ids.size(); first += TokenSplits::BATCH_SIZE) {
    const std::size_t count = std::min(ids.size() - first, TokenSplits::BATCH_SIZE);
    splits.read_batch();
    likely.clear();
    for (std::size_t i = 0; i < count; ++i)
      likely.add(likely_parts_of(i));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t id = ids[first + i];
      const TokenView token = vocabulary_.tokens_[id];
      if (token.size == 1)
        continue;
      Parts parts = likely.confirmed(i);
      if (!are_known(parts))
        parts = parts_of(token, i);
      Merge merge{};
      if (are_known(parts)) {
        symbols[first + i] = vocabulary_.merges_.add(parts.left, parts.right, id);
        if (symbols[first + i] == NO_MERGE)
          return false;
      } else if (makes_from_higher(id, merge)) {
        ordered_count_ = merges_fit() ? first + i : 0;
        kept_ = ordered_count_ == 0 ? 0 : vocabulary_.merges_.size() - OrderedMerges::BYTES;
        return false;
      }
    }
  }
  // merges_fit returns false if hashes collided. The caller then uses a slower algorithm, which
  // is exact.
  return merges_fit();
}

// Like order_ranks, but with hints: `likely` has the probable merges in order. Verifies each
// hint. A token without a hint gets the parts that its bytes merge into. Also returns false if
// a hint is wrong.
bool Vocabulary::Builder::order_likely(const std::vector<std::uint32_t> &ids,
                                       const std::vector<Merge> &likely) {
  constexpr std::uint32_t NO_MERGE = OrderedMerges::NO_MERGE;
  const auto is_token = [&](std::uint32_t id) { return id < vocabulary_.tokens_.size(); };
  if (likely.empty() || !std::all_of(likely.begin(), likely.end(), [&](const Merge &merge) {
        return is_token(merge.left) && is_token(merge.right);
      }))
    return false;
  std::vector<std::uint32_t> symbols = reset_merges(ids.size());
  SplitCandidates batch(vocabulary_.merges_);
  std::vector<std::uint32_t> merged;
  auto next = likely.begin();
  for (std::size_t first = 0; first < ids.size(); first += TokenSplits::BATCH_SIZE) {
    const std::size_t count = std::min(ids.size() - first, TokenSplits::BATCH_SIZE);
    batch.clear();
    auto hint = next;
    for (std::size_t i = 0; i < count; ++i) {
      const bool has_hint = hint != likely.end() && hint->id == ids[first + i];
      batch.add(has_hint ? Parts{symbols[hint->left], symbols[hint->right]} : NO_PARTS);
      hint += has_hint ? 1 : 0;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t id = ids[first + i];
      const TokenView token = vocabulary_.tokens_[id];
      Parts parts = batch.confirmed(i);
      if (next != likely.end() && next->id == id) {
        // `confirmed` also rejects correct parts: if one of them is a token of this batch, or
        // if there are too many boundary pairs. So test rejected parts again.
        if (!are_known(parts)) {
          parts = {symbols[next->left], symbols[next->right]};
          if (!are_known(parts) || !vocabulary_.merges_.is_valid_pair(parts.left, parts.right))
            return false;
        }
        ++next;
      } else if (token.size > 1) {
        Merge merge{};
        merged.resize(token.size);
        if (vocabulary_.merge_ordered(token.bytes, token.size, merged.data()) == 2)
          parts = {symbols[merged[0]], symbols[merged[1]]};
        else if (makes_from_higher(id, merge))
          return false;
      }
      if (are_known(parts)) {
        symbols[id] = vocabulary_.merges_.add(parts.left, parts.right, id);
        if (symbols[id] == NO_MERGE)
          return false;
      }
    }
  }
  return next == likely.end() && merges_fit();
}

// Returns whether each symbol has the bytes of its two parts, concatenated.
bool Vocabulary::Builder::merges_fit() const {
  constexpr std::uint32_t AHEAD = 16; // the prefetch distance, in symbols
  for (std::uint32_t symbol = OrderedMerges::BYTES; symbol < vocabulary_.merges_.size();
       ++symbol) {
    if (symbol + AHEAD < vocabulary_.merges_.size()) {
      const OrderedMerges::Parts ahead = vocabulary_.merges_.parts(symbol + AHEAD);
      prefetch(&vocabulary_.tokens_[vocabulary_.merges_.id(ahead.left)]);
      prefetch(&vocabulary_.tokens_[vocabulary_.merges_.id(ahead.right)]);
    }
    if (symbol + AHEAD / 2 < vocabulary_.merges_.size()) {
      const OrderedMerges::Parts ahead = vocabulary_.merges_.parts(symbol + AHEAD / 2);
      prefetch(vocabulary_.tokens_[vocabulary_.merges_.id(ahead.left)].bytes);
      prefetch(vocabulary_.tokens_[vocabulary_.merges_.id(ahead.right)].bytes);
    }
    const OrderedMerges::Parts parts = vocabulary_.merges_.parts(symbol);
    if (!are_parts(vocabulary_.tokens_[vocabulary_.merges_.id(parts.left)],
                   vocabulary_.tokens_[vocabulary_.merges_.id(parts.right)],
                   vocabulary_.tokens_[vocabulary_.merges_.id(symbol)]))
      return false;
  }
  return true;
}

// Returns whether the bytes of a token merge into exactly two tokens by all merges except those
// that make the token itself. Any two tokens that concatenate to a token count as a merge. Sets
// `merge` to the merge of these two tokens. Callers have found that the merges of lower rank
// alone do not make the token, so merges of higher rank take part.
bool Vocabulary::Builder::makes_from_higher(std::uint32_t id, Merge &merge) {
  std::vector<std::uint32_t> symbols = byte_ids_of(vocabulary_.tokens_[id]);
  std::vector<std::uint8_t> both;
  merge_long(symbols, [&](std::uint32_t left, std::uint32_t right) {
    const TokenView a = vocabulary_.tokens_[left];
    const TokenView b = vocabulary_.tokens_[right];
    both.assign(a.bytes, a.bytes + a.size);
    both.insert(both.end(), b.bytes, b.bytes + b.size);
    const std::uint32_t result = find_token(both.data(), both.size());
    return result == NO_ID || result == id ? Merged{NO_RANK, NO_ID} : Merged{result, result};
  });
  if (symbols.size() != 2)
    return false;
  merge = {symbols[0], symbols[1], id};
  return true;
}

void Vocabulary::Builder::pairs_from_ranks(const std::vector<std::uint32_t> &ids) {
  vocabulary_.pairs_.reset(ids.size());
  listed_.clear();
  // Lower ranks alone decide the merge of a token. So the merges of the first ordered_count_
  // tokens, which order_ranks found, are valid here too.
  const OrderedMerges &ordered = vocabulary_.merges_;
  for (std::uint32_t symbol = OrderedMerges::BYTES;
       ordered_count_ != 0 && symbol < ordered.size(); ++symbol) {
    const OrderedMerges::Parts parts = ordered.parts(symbol);
    const std::uint32_t id = ordered.id(symbol);
    insert_pair({ordered.id(parts.left), ordered.id(parts.right), id});
  }
  std::vector<std::uint32_t> parts;
  for (std::size_t i = ordered_count_; i < ids.size(); ++i) {
    const std::uint32_t id = ids[i];
    const TokenView token = vocabulary_.tokens_[id];
    if (token.size == 1)
      continue;
    // At this point the table has exactly the merges of lower ranks.
    parts.resize(token.size);
    Merge merge{};
    if (vocabulary_.merge_in_any_order(token.bytes, token.size, parts.data()) == 2)
      insert_pair({parts[0], parts[1], id});
    else if (makes_from_higher(id, merge))
      insert_pair(merge);
  }
}

// Inserts a merge that ranks by the id of its result.
void Vocabulary::Builder::insert_pair(const Merge &merge) {
  vocabulary_.pairs_.insert(merge.left, merge.right, {merge.id, merge.id});
  listed_.push_back(merge);
}

// Fills `merges_` from a list of merges. Some files list every way to split a token in two.
// Most of these merges never happen: the token has a merge already, or its two parts are not a
// valid pair. order_merges skips these merges.
//
// A merge is early if no merge of lower rank makes one of its parts. An early merge never
// happens if no merge at all makes this part, or if another merge has made the result before
// this part is made. If an early merge may happen, the vocabulary is not ordered: order_merges
// returns false.
bool Vocabulary::Builder::order_merges(const std::vector<Merge> &merges) {
  std::vector<std::uint32_t> symbols = reset_merges(merges.size());
  std::vector<Merge> early;
  kept_ = 0;
  std::uint32_t rank = 0;
  for (const Merge &merge : merges) {
    const bool is_first = kept_ == rank++; // whether no earlier merge was skipped
    const std::uint32_t left = symbols[merge.left];
    const std::uint32_t right = symbols[merge.right];
    if (left == OrderedMerges::NO_MERGE || right == OrderedMerges::NO_MERGE) {
      early.push_back(merge);
      continue;
    }
    if (vocabulary_.merges_.find(left, right) != OrderedMerges::NO_MERGE)
      return false; // a repeated pair
    if (symbols[merge.id] == OrderedMerges::NO_MERGE &&
        vocabulary_.merges_.is_valid_pair(left, right)) {
      symbols[merge.id] = vocabulary_.merges_.add(left, right, merge.id);
      if (symbols[merge.id] == OrderedMerges::NO_MERGE) {
        kept_ = 0;
        return false;
      }
      kept_ += is_first ? 1 : 0;
    }
  }
  return std::all_of(early.begin(), early.end(), [&symbols](const Merge &merge) {
    const std::uint32_t last = std::max(symbols[merge.left], symbols[merge.right]);
    return last == OrderedMerges::NO_MERGE || symbols[merge.id] < last;
  });
}

void Vocabulary::Builder::pairs_from_merges(const std::vector<Merge> &merges) {
  vocabulary_.pairs_.reset(merges.size());
  bool repeats = false;
  std::uint32_t rank = 0;
  for (const Merge &merge : merges)
    repeats |= !vocabulary_.pairs_.insert(merge.left, merge.right, {rank++, merge.id});
  listed_ = repeats ? vocabulary_.merges() : merges;
  kept_ = repeats ? 0 : kept_; // a repeated pair has another rank
}

// Fills `merges_` from `pairs_`, for a vocabulary that is not ordered. Returns false if the
// table cannot hold the merges.
bool Vocabulary::Builder::table_from_pairs() {
  // The first kept_ merges happen, since lower ranks alone decide the merge of a token.
  const std::vector<Merge> merges = merges_that_happen();
  if (kept_ < merges.size() / 2) { // removing the other merges would take longer
    vocabulary_.merges_.reset(vocabulary_.byte_ids_, merges.size());
    kept_ = 0;
  }
  vocabulary_.merges_.remove_from(OrderedMerges::BYTES + kept_);
  std::vector<std::uint32_t> symbols = byte_symbols();
  std::uint32_t next = OrderedMerges::BYTES;
  for (const Merge &merge : merges)
    symbols[merge.id] = next++;
  return std::all_of(merges.begin() + kept_, merges.end(), [&](const Merge &merge) {
    return vocabulary_.merges_.add(symbols[merge.left], symbols[merge.right], merge.id) !=
           OrderedMerges::NO_MERGE;
  });
}

// Returns the merges of `pairs_` in order of rank, without the merges that never happen. At
// most one merge for each token remains. Until a merge makes a token, none of the token's bytes
// has merged with a byte outside the token. So the bytes have merged as they do alone, and
// always the same merge comes last and makes the token.
std::vector<Merge> Vocabulary::Builder::merges_that_happen() {
  std::vector<Merge> merges = std::move(listed_);
  std::vector<std::uint32_t> counts(vocabulary_.tokens_.size());
  for (const Merge &merge : merges)
    ++counts[merge.id];
  const auto drop_if = [&merges](auto is_dropped) {
    merges.erase(std::remove_if(merges.begin(), merges.end(), is_dropped), merges.end());
  };
  drop_if([&](const Merge &merge) { return counts[merge.id] > 1 && !ends_with(merge); });
  std::vector<bool> is_made(vocabulary_.tokens_.size());
  for (const std::uint32_t id : vocabulary_.byte_ids_)
    if (id != NO_ID)
      is_made[id] = true;
  const auto makes = [&](const Merge &merge) {
    return is_made[merge.left] && is_made[merge.right];
  };
  std::vector<Merge> others; // merges with a part that no earlier merge makes
  for (const Merge &merge : merges)
    if (makes(merge))
      is_made[merge.id] = true;
    else
      others.push_back(merge);
  // Parts are shorter than the token that they make. So in order of size, each merge comes
  // after all merges that may make its parts.
  std::sort(others.begin(), others.end(), [this](const Merge &a, const Merge &b) {
    return vocabulary_.tokens_[a.id].size < vocabulary_.tokens_[b.id].size;
  });
  for (const Merge &merge : others)
    is_made[merge.id] = is_made[merge.id] || makes(merge);
  drop_if([&](const Merge &merge) { return !makes(merge); });
  return merges;
}

// `merge` makes a token. Returns whether the bytes of this token merge into the two parts of
// `merge` by all merges except those that make the token itself.
bool Vocabulary::Builder::ends_with(const Merge &merge) const {
  std::vector<std::uint32_t> symbols = byte_ids_of(vocabulary_.tokens_[merge.id]);
  const auto find = [&](std::uint32_t left, std::uint32_t right) {
    const Merged merged = vocabulary_.pairs_.find(left, right);
    return merged.id == merge.id ? Merged{NO_RANK, NO_ID} : merged;
  };
  if (symbols.size() <= MAX_SCANNED)
    symbols.resize(merge_short(symbols.data(), symbols.size(), find));
  else
    merge_long(symbols, find);
  return symbols.size() == 2 && symbols[0] == merge.left && symbols[1] == merge.right;
}

} // namespace pretok
