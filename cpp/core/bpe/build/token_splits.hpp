// Finds the ways to split a token into two other tokens, for a batch of tokens at once.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"
#include "core/bpe/token_view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// The place of a token is its index in `ids`, an argument of the constructor. It is not the id
// of the token.
class TokenSplits {
public:
  static constexpr std::uint32_t NO_PLACE = 0xFFFFFFFF;
  static constexpr std::size_t MAX_BYTES = 256; // longer tokens are skipped
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  static constexpr std::size_t BATCH_SIZE = 4; // fuzzed vocabularies are small
#else
  static constexpr std::size_t BATCH_SIZE = 32;
#endif

  struct Split { // the places of the two tokens
    std::uint32_t left;
    std::uint32_t right;
  };

  // `tokens` has the bytes of each token, by id. `ids` lists the tokens to read, in order. Both
  // must outlive this object.
  TokenSplits(const std::vector<TokenView> &tokens, const std::vector<std::uint32_t> &ids);

  // Reads the next BATCH_SIZE tokens, or fewer at the end of `ids`. Finds the ways to split
  // each of them into two tokens read so far. Compares only hashes, so the caller must verify
  // the bytes. A collision may also hide a split: of two tokens with equal tags, the table may
  // find only one.
  void read_batch();

  // The splits of token i of the last batch.
  const Split *begin(std::size_t i) const { return ends_[i]; }
  const Split *end(std::size_t i) const { return ends_[i + 1]; }

  // Returns the place of a token read so far whose hash equals the hash of these bytes, or
  // NO_PLACE. `size` must be at most MAX_BYTES.
  std::uint32_t find(const std::uint8_t *bytes, std::size_t size) const;

private:
  struct Slot {
    std::uint32_t tag = 0; // bits 24 to 55 of the hash
    std::uint32_t place = NO_PLACE;

    bool is_free() const { return place == NO_PLACE; }
  };
  struct Hashes {
    std::uint64_t left;
    std::uint64_t right;
  };

  void insert(std::uint64_t hash, std::uint32_t place);
  std::uint32_t find(std::uint64_t hash) const;
  static std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 24);
  }
  std::uint64_t hash_of(const std::uint8_t *bytes, std::size_t size) const;
  Hashes *hash_splits(TokenView token, std::uint64_t hash, Hashes *to) const;

  const std::vector<TokenView> &tokens_;
  const std::vector<std::uint32_t> &ids_;
  // A polynomial hash with a secret base and a secret digit per byte. One multiplication gives
  // the hash of a suffix from the hashes of the string and of its prefix. The hashes are modulo
  // 2^64, and the base is odd. So a Thue-Morse string of 256 bytes and its complement have
  // hashes with equal lower halves, whatever the base is. Therefore the top bits of a hash
  // select the slot and the bit of the filter, and a tag has 24 bits of the upper half.
  std::array<std::uint64_t, 256> digits_;
  std::array<std::uint64_t, MAX_BYTES> powers_; // powers of the base
  std::size_t read_ = 0;
  OpenTable<Slot, 80> slots_; // dense, to fit in the processor's cache
  BitFilter filter_;          // has a bit for the hash of each token read so far
  std::vector<Hashes> hashes_;
  std::vector<Split> splits_;
  std::array<const Split *, BATCH_SIZE + 1> ends_{};
};

} // namespace pretok
