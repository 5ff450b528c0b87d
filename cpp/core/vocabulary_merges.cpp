// How the merges of a vocabulary follow from its ranks, or from a list of merges.
#include "vocabulary.hpp"

#include "merge_windows.hpp"

#include <algorithm>

namespace pretok {

// With ranks alone, a token is made of the two lower ones that have its bytes and that lower
// ranks leave apart, if there are such two, wherever it is made: nothing that a token is made
// of has merged with what is around it, so its bytes merge as they do by themselves. They are
// not in order if a token is made of others than lower ones.
bool Vocabulary::order_ranks(const std::vector<std::uint32_t> &ids) {
  constexpr std::uint32_t MOST_TRIED = 256; // longer ones are merged: that is linear
  merges_.reset(byte_ids_, ids.size());
  std::vector<std::uint32_t> symbols(tokens_.size(), OrderedMerges::NONE);
  for (std::uint32_t byte = 0; byte < OrderedMerges::BYTES; ++byte)
    symbols[byte_ids_[byte]] = byte;
  const auto find = [&](const std::uint8_t *bytes, std::size_t size, const std::uint8_t *end) {
    const std::uint32_t id = whole_.find(bytes, size, end);
    return id == NO_ID ? OrderedMerges::NONE : symbols[id];
  };
  const auto parts_of = [&](TokenView token, OrderedMerges::Parts &parts) {
    const std::uint8_t *end = token.bytes + token.size;
    if (token.size > MOST_TRIED) {
      std::vector<std::uint32_t> merged(token.size);
      if (merge_ordered(token.bytes, token.size, merged.data()) != 2)
        return false;
      parts = {symbols[merged[0]], symbols[merged[1]]};
      return true;
    }
    for (std::uint32_t size = 1; size < token.size; ++size) {
      parts.left = find(token.bytes, size, end);
      if (parts.left == OrderedMerges::NONE)
        continue;
      parts.right = find(token.bytes + size, token.size - size, end);
      if (parts.right != OrderedMerges::NONE && merges_.stay_apart(parts.left, parts.right))
        return true;
    }
    return false;
  };
  for (const std::uint32_t id : ids) {
    if (tokens_[id].size == 1)
      continue;
    OrderedMerges::Parts parts{};
    Merge merge{};
    if (parts_of(tokens_[id], parts)) {
      symbols[id] = merges_.add(parts.left, parts.right, id);
      if (symbols[id] == OrderedMerges::NONE)
        return false;
    } else if (makes_from_higher(id, merge)) {
      return false;
    }
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
