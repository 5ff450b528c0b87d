#include "token_cuts.hpp"

#include <algorithm>

namespace pretok {
namespace {

// A hash is a number in this base, each byte a digit that is not 0: what remains of a number
// without its first digits is one multiplication away. The digits' own factor brings the last
// ones to the top, whose bits are good ones; those at the bottom are others.
constexpr std::uint64_t BASE = 0xD6E8FEB86659FD93;
constexpr std::uint64_t FACTOR = 0x9E3779B97F4A7C15;

std::uint64_t then(std::uint64_t hash, std::uint8_t byte) {
  return hash * BASE + (byte + std::uint64_t{1}) * FACTOR;
}

std::uint64_t hash_of(const std::uint8_t *bytes, std::size_t size) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < size; ++i)
    hash = then(hash, bytes[i]);
  return hash;
}

constexpr std::array<std::uint64_t, TokenCuts::MOST_BYTES> make_powers() {
  std::array<std::uint64_t, TokenCuts::MOST_BYTES> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i)
    powers[i] = powers[i - 1] * BASE;
  return powers;
}
constexpr std::array<std::uint64_t, TokenCuts::MOST_BYTES> POWERS = make_powers();

} // namespace

TokenCuts::TokenCuts(const std::vector<TokenView> &tokens,
                     const std::vector<std::uint32_t> &ids)
    : tokens_(tokens), ids_(ids) {
  unsigned bits = 4;
  while ((std::size_t{1} << bits) / 5 * 4 < ids.size())
    ++bits;
  entries_.assign(std::size_t{1} << bits, Entry());
  shift_ = 64 - bits;
  filter_.assign(entries_.size() / 4, 0);
  filter_shift_ = shift_ - 4;
  hashes_.resize(AT_ONCE * MOST_BYTES);
  cuts_.resize(hashes_.size());
  ends_[0] = cuts_.data();
}

void TokenCuts::insert(std::uint64_t hash, std::uint32_t place) {
  std::size_t at = hash >> shift_;
  while (entries_[at].place != NONE)
    at = next(at);
  entries_[at] = {static_cast<std::uint32_t>(hash), place};
  const std::uint64_t bit = hash >> filter_shift_;
  filter_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
}

std::uint32_t TokenCuts::find(std::uint64_t hash) const {
  std::size_t at = hash >> shift_;
  while (entries_[at].place != NONE && entries_[at].tag != static_cast<std::uint32_t>(hash))
    at = next(at);
  return entries_[at].place;
}

std::uint32_t TokenCuts::find(const std::uint8_t *bytes, std::size_t size) const {
  return find(hash_of(bytes, size));
}

// Writes to `to` the hashes of both parts of each cut of the token with this hash that has two
// tokens, and maybe of others; returns where they end.
TokenCuts::Hashes *TokenCuts::hash_cuts(TokenView token, std::uint64_t hash, Hashes *to) const {
  std::uint64_t left = 0;
  for (std::uint32_t at = 1; at < token.size; ++at) {
    left = then(left, token.bytes[at - 1]);
    const std::uint64_t right = hash - left * POWERS[token.size - at];
    *to = {left, right};
    to += may_have(left) & may_have(right);
  }
  return to;
}

void TokenCuts::read_more() {
  const std::size_t first = read_;
  const std::size_t count = std::min(ids_.size() - first, AT_ONCE);
  read_ += count;
  std::array<std::uint64_t, AT_ONCE> whole;
  for (std::size_t i = 0; i < count; ++i) {
    const TokenView token = tokens_[ids_[first + i]];
    whole[i] = hash_of(token.bytes, token.size);
    prefetch(whole[i]);
  }
  for (std::size_t i = 0; i < count; ++i)
    insert(whole[i], static_cast<std::uint32_t>(first + i));
  std::array<const Hashes *, AT_ONCE> ends;
  Hashes *end = hashes_.data();
  for (std::size_t i = 0; i < count; ++i) {
    const TokenView token = tokens_[ids_[first + i]];
    if (token.size <= MOST_BYTES)
      end = hash_cuts(token, whole[i], end);
    ends[i] = end;
  }
  for (const Hashes *at = hashes_.data(); at != end; ++at) {
    prefetch(at->left);
    prefetch(at->right);
  }
  const Hashes *at = hashes_.data();
  Cut *to = cuts_.data();
  for (std::size_t i = 0; i < count; ++i) {
    for (; at != ends[i]; ++at) {
      *to = {find(at->left), find(at->right)};
      to += static_cast<int>(to->left != NONE) & static_cast<int>(to->right != NONE);
    }
    ends_[i + 1] = to;
  }
}

} // namespace pretok
