// How the merges of a vocabulary follow from its ranks, or from a list of merges.
#include "vocabulary.hpp"

#include "merge_windows.hpp"

#include <algorithm>
#include <cstring>

namespace pretok {
namespace {

// Symbols by the hash of their bytes, for building only. It is small, and whether the bytes are
// the right ones is for who asks to see.
class SymbolIndex {
public:
  explicit SymbolIndex(std::size_t count) {
    unsigned bits = 4;
    while (std::size_t{1} << bits < 2 * count)
      ++bits;
    entries_.assign(std::size_t{1} << bits, FREE);
    shift_ = 64 - bits;
  }

  static std::uint64_t hash(const std::uint8_t *bytes, std::size_t size,
                            const std::uint8_t *limit) {
    return size <= ShortKey::MOST ? ShortKey(bytes, size, limit).hash()
                                  : hash_long(bytes, size);
  }

  void insert(std::uint64_t hash, std::uint32_t symbol) {
    std::size_t at = hash >> shift_;
    while (entries_[at] != FREE)
      at = next(at);
    entries_[at] = tag(hash) | symbol;
  }

  // A symbol whose bytes have this hash, but for a few bits, or NONE.
  std::uint32_t find(std::uint64_t hash) const {
    std::size_t at = hash >> shift_;
    while (entries_[at] != FREE && (entries_[at] ^ tag(hash)) >= OrderedMerges::NONE)
      at = next(at);
    return static_cast<std::uint32_t>(entries_[at]) & OrderedMerges::NONE;
  }

private:
  static constexpr std::uint64_t FREE = ~std::uint64_t{0};

  // The low bits of the hash, above those of a symbol.
  static std::uint64_t tag(std::uint64_t hash) {
    return hash << (OrderedMerges::SYMBOL_BITS + 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }

  std::vector<std::uint64_t> entries_;
  unsigned shift_;
};

} // namespace

// With ranks alone, a token is made of the two lower ones that have its bytes and that lower
// ranks leave apart, if there are such two, wherever it is made: nothing that a token is made
// of has merged with what is around it, so its bytes merge as they do by themselves. They are
// not in order if a token is made of others than lower ones.
bool Vocabulary::order_ranks(const std::vector<std::uint32_t> &ids) {
  constexpr std::uint32_t MOST_TRIED = 256; // longer ones are merged: that is linear
  constexpr OrderedMerges::Parts NO_PARTS{OrderedMerges::NONE, OrderedMerges::NONE};
  merges_.reset(byte_ids_, ids.size());
  const std::uint8_t *const limit = bytes_.data() + bytes_.size();
  SymbolIndex index(ids.size());
  for (std::uint32_t byte = 0; byte < OrderedMerges::BYTES; ++byte)
    index.insert(SymbolIndex::hash(tokens_[byte_ids_[byte]].bytes, 1, limit), byte);
  const auto is = [&](std::uint32_t symbol, const std::uint8_t *bytes, std::size_t size) {
    const TokenView token = tokens_[merges_.id(symbol)];
    return token.size == size && std::memcmp(token.bytes, bytes, size) == 0;
  };
  const auto find = [&](const std::uint8_t *bytes, std::size_t size) {
    return index.find(SymbolIndex::hash(bytes, size, limit));
  };
  const auto parts_of = [&](TokenView token) {
    if (token.size > MOST_TRIED) {
      std::vector<std::uint32_t> merged(token.size);
      if (merge_ordered(token.bytes, token.size, merged.data()) != 2)
        return NO_PARTS;
      const std::uint32_t size = tokens_[merged[0]].size;
      return OrderedMerges::Parts{find(token.bytes, size),
                                  find(token.bytes + size, token.size - size)};
    }
    for (std::uint32_t size = 1; size < token.size; ++size) {
      const std::uint32_t left = find(token.bytes, size);
      if (left == OrderedMerges::NONE)
        continue;
      const std::uint32_t right = find(token.bytes + size, token.size - size);
      if (right != OrderedMerges::NONE && merges_.stay_apart(left, right))
        return OrderedMerges::Parts{left, right};
    }
    return NO_PARTS;
  };
  for (const std::uint32_t id : ids) {
    const TokenView token = tokens_[id];
    if (token.size == 1)
      continue;
    const auto [left, right] = parts_of(token);
    Merge merge{};
    if (left != OrderedMerges::NONE) {
      const std::size_t size = tokens_[merges_.id(left)].size;
      // Two hashes that were alike by chance: what makes no use of them is slower, but right.
      if (size >= token.size || !is(left, token.bytes, size) ||
          !is(right, token.bytes + size, token.size - size))
        return false;
      const std::uint32_t symbol = merges_.add(left, right, id);
      if (symbol == OrderedMerges::NONE)
        return false;
      index.insert(SymbolIndex::hash(token.bytes, token.size, limit), symbol);
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
