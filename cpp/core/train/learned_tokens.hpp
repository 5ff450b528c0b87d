// The tokens that training learns, and a look-up by their bytes.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pretok {

// Does not copy the bytes of each token, but stores a position in bytes_ at which they occur.
// Training may learn many overlapping tokens from one long word, so copies of their bytes could
// take far more memory than the word.
class LearnedTokens {
public:
  using Symbol = std::uint32_t;
  static constexpr Symbol NO_SYMBOL = static_cast<Symbol>(-1);

  // Starts with 256 tokens: token i is the byte bytes[i].
  explicit LearnedTokens(const std::array<std::uint8_t, 256> &bytes)
      : bytes_(bytes.begin(), bytes.end()) {
    for (Symbol symbol = 0; symbol < 256; ++symbol)
      tokens_.push_back({symbol, 1, rolling_.of_byte(bytes[symbol]), rolling_.base()});
  }

  std::size_t size() const { return tokens_.size(); }
  std::uint32_t length(Symbol symbol) const { return tokens_[symbol].length; }

  // Stores bytes and returns their position, for `add`.
  std::uint64_t store(const std::uint8_t *bytes, std::size_t size) {
    bytes_.insert(bytes_.end(), bytes, bytes + size);
    return bytes_.size() - size;
  }

  // Returns the token whose bytes are those of `left` and `right`, concatenated, or NO_SYMBOL.
  Symbol find(Symbol left, Symbol right) const {
    return slots_
        .find(hash_of(concatenate(left, right)),
              [&](Slot slot) { return is_concatenation(tokens_[slot.symbol], left, right); })
        .symbol;
  }

  // Adds the concatenation of `left` and `right` and returns its symbol. `start` points to the
  // position of its bytes. If `start` is nullptr, `add` stores the bytes.
  Symbol add(Symbol left, Symbol right, const std::uint64_t *start) {
    Token token = concatenate(left, right);
    token.start = start != nullptr ? *start : bytes_.size();
    if (start == nullptr)
      for (const Token &part : {tokens_[left], tokens_[right]})
        for (std::size_t i = 0; i < part.length; ++i)
          bytes_.push_back(std::uint8_t{bytes_[part.start + i]});
    const auto symbol = static_cast<Symbol>(tokens_.size());
    tokens_.push_back(token);
    slots_.make_room([this](Slot slot) { return hash_of(tokens_[slot.symbol]); });
    // Tokens may have equal bytes.
    slots_.find_or_add(hash_of(token), [](Slot) { return false; }).symbol = symbol;
    return symbol;
  }

private:
  struct Token {
    std::uint64_t start; // in bytes_
    std::uint32_t length;
    std::uint64_t hash;
    std::uint64_t power; // rolling_.base() to the power of `length`
  };
  struct Slot {
    Symbol symbol = NO_SYMBOL;

    bool is_free() const { return symbol == NO_SYMBOL; }
  };

  Token concatenate(Symbol left, Symbol right) const {
    const Token &a = tokens_[left];
    const Token &b = tokens_[right];
    return {0, a.length + b.length, RollingHash::multiply_add(a.hash, b.power, b.hash),
            RollingHash::multiply_add(a.power, b.power, 0)};
  }

  bool is_concatenation(const Token &token, Symbol left, Symbol right) const {
    const Token &a = tokens_[left];
    const Token &b = tokens_[right];
    const std::uint8_t *bytes = bytes_.data();
    return token.length == a.length + b.length &&
           std::memcmp(bytes + token.start, bytes + a.start, a.length) == 0 &&
           std::memcmp(bytes + token.start + a.length, bytes + b.start, b.length) == 0;
  }

  std::uint64_t hash_of(const Token &token) const { return hash_words(token.hash, 0, key_); }

  HashKey key_ = hash_key();
  RollingHash rolling_{key_};
  std::vector<std::uint8_t> bytes_;
  std::vector<Token> tokens_;
  OpenTable<Slot> slots_{2048}; // all symbols from 256 on, by their bytes
};

} // namespace pretok
