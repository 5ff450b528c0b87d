#include "core/bpe/build/token_splits.hpp"

#include <algorithm>

namespace pretok {

TokenSplits::TokenSplits(const std::vector<TokenView> &tokens,
                         const std::vector<std::uint32_t> &ids)
    : tokens_(tokens), ids_(ids) {
  const HashKey key = hash_key();
  powers_[0] = 1;
  for (std::size_t i = 1; i < powers_.size(); ++i)
    powers_[i] = powers_[i - 1] * (key.one | 1);
  for (std::size_t byte = 0; byte < digits_.size(); ++byte)
    digits_[byte] = hash_words(byte, 1, key);
  slots_.reset(ids.size());
  filter_.reset(ids.size());
  hashes_.resize(BATCH_SIZE * MAX_BYTES);
  splits_.resize(hashes_.size());
  ends_[0] = splits_.data();
}

void TokenSplits::insert(std::uint64_t hash, std::uint32_t place) {
  slots_.find_or_add(hash, [](const Slot &) { return false; }) = {tag_of(hash), place};
  filter_.add(hash);
}

std::uint32_t TokenSplits::find(std::uint64_t hash) const {
  return slots_.find(hash, [hash](const Slot &slot) { return slot.tag == tag_of(hash); }).place;
}

std::uint32_t TokenSplits::find(const std::uint8_t *bytes, std::size_t size) const {
  return find(hash_of(bytes, size));
}

std::uint64_t TokenSplits::hash_of(const std::uint8_t *bytes, std::size_t size) const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < size; ++i)
    hash = hash * powers_[1] + digits_[bytes[i]];
  return hash;
}

// Writes to `to` the hashes of both parts of each split that passes the filter. Returns the end
// of the written hashes.
TokenSplits::Hashes *TokenSplits::hash_splits(TokenView token, std::uint64_t hash,
                                              Hashes *to) const {
  const std::uint64_t base = powers_[1]; // a local copy: a store to `to` could alias powers_
  std::uint64_t left = 0;
  for (std::uint32_t at = 1; at < token.size; ++at) {
    left = left * base + digits_[token.bytes[at - 1]];
    const std::uint64_t right = hash - left * powers_[token.size - at];
    *to = {left, right}; // branchless: kept only if the filter may have both hashes
    to += filter_.may_have(left) & filter_.may_have(right);
  }
  return to;
}

// Adds the tokens of the batch to the table, then looks up the parts of each token. Prefetches
// and look-ups are in separate loops, so that each prefetch has time to complete.
void TokenSplits::read_batch() {
  const std::size_t first = read_;
  const std::size_t count = std::min(ids_.size() - first, BATCH_SIZE);
  read_ += count;
  std::array<std::uint64_t, BATCH_SIZE> whole;
  for (std::size_t i = 0; i < count; ++i) {
    const TokenView token = tokens_[ids_[first + i]];
    if (token.size > MAX_BYTES)
      continue;
    whole[i] = hash_of(token.bytes, token.size);
    slots_.prefetch(whole[i]);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (tokens_[ids_[first + i]].size <= MAX_BYTES)
      insert(whole[i], static_cast<std::uint32_t>(first + i));
  std::array<const Hashes *, BATCH_SIZE> ends;
  Hashes *end = hashes_.data();
  for (std::size_t i = 0; i < count; ++i) {
    const TokenView token = tokens_[ids_[first + i]];
    if (token.size <= MAX_BYTES)
      end = hash_splits(token, whole[i], end);
    ends[i] = end;
  }
  for (const Hashes *at = hashes_.data(); at != end; ++at) {
    slots_.prefetch(at->left);
    slots_.prefetch(at->right);
  }
  const Hashes *at = hashes_.data();
  Split *to = splits_.data();
  for (std::size_t i = 0; i < count; ++i) {
    for (; at != ends[i]; ++at) {
      // Branchless: `to` advances only if both parts are tokens.
      *to = {find(at->left), find(at->right)};
      to += static_cast<int>(to->left != NO_PLACE) & static_cast<int>(to->right != NO_PLACE);
    }
    ends_[i + 1] = to;
  }
}

} // namespace pretok
