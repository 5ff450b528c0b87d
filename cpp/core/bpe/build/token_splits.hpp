// The ways to cut tokens in two other ones, found for many tokens at once.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/prefetch.hpp"
#include "core/bpe/token_view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Tokens are named by their places in a list.
class TokenSplits {
public:
  static constexpr std::uint32_t NO_TOKEN = 0xFFFFFFFF;
  static constexpr std::size_t MAX_BYTES = 256; // longer tokens are left out
  static constexpr std::size_t BATCH_SIZE = 32;

  struct Split {
    std::uint32_t left;
    std::uint32_t right;
  };

  // The tokens are those of `ids`, whose bytes are in `tokens`; both must stay.
  TokenSplits(const std::vector<TokenView> &tokens, const std::vector<std::uint32_t> &ids);

  // Finds the cuts of the next BATCH_SIZE tokens, or as many as there are: the ways to cut one
  // into two of those read. That these have the right bytes is for who makes use of a cut to
  // see: hashes may be alike by chance, and a cut may be missing because of that.
  void read_batch();

  // Those of the `which`th token that read_batch has read last.
  const Split *begin(std::size_t which) const { return ends_[which]; }
  const Split *end(std::size_t which) const { return ends_[which + 1]; }

  // Of the tokens read, one whose bytes are these, or have the same hash; or NO_TOKEN. There
  // are at most MAX_BYTES.
  std::uint32_t find(const std::uint8_t *bytes, std::size_t size) const;

private:
  struct Entry {
    std::uint32_t tag = 0; // of the hash
    std::uint32_t place = NO_TOKEN;
  };
  struct Hashes {
    std::uint64_t left;
    std::uint64_t right;
  };

  void insert(std::uint64_t hash, std::uint32_t place);
  std::uint32_t find(std::uint64_t hash) const;
  // 0 or 1.
  unsigned may_have(std::uint64_t hash) const {
    const std::uint64_t bit = hash >> filter_shift_;
    return filter_[bit >> 6] >> (bit & 63) & 1;
  }
  void prefetch(std::uint64_t hash) const { pretok::prefetch(&entries_[hash >> shift_]); }
  static std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 24);
  }
  std::uint64_t hash_of(const std::uint8_t *bytes, std::size_t size) const;
  std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }
  Hashes *hash_splits(TokenView token, std::uint64_t hash, Hashes *to) const;

  const std::vector<TokenView> &tokens_;
  const std::vector<std::uint32_t> &ids_;
  // A hash is a number in a secret base, in which each byte is a secret digit: the hash of the
  // last bytes of a string is one multiplication away from those of the string and of its first
  // bytes. Modulo 2^64, strings of 256 bytes can be chosen whose hashes have the same lower
  // half with any base. Slots, the filter and tags use the upper half.
  std::array<std::uint64_t, 256> digits_;
  std::array<std::uint64_t, MAX_BYTES> powers_; // of the base
  std::size_t read_ = 0;
  std::vector<Entry> entries_;
  unsigned shift_;
  // A bit for each hash: it fits where memory is fast.
  std::vector<std::uint64_t> filter_;
  unsigned filter_shift_;
  std::vector<Hashes> hashes_;
  std::vector<Split> splits_;
  std::array<const Split *, BATCH_SIZE + 1> ends_{};
};

} // namespace pretok
