// The tokens that training learns, and a look-up by their units, which are bytes or characters.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pretok {

// The number of words in a text: of runs of units other than white space and "▁".
struct WordCount {
  std::uint32_t words;
  bool starts_inside; // the first unit is in a word
  bool ends_inside;   // the last unit is in a word

  static WordCount of_one(std::uint32_t unit) {
    const bool is_inside =
        unit != 0x20 && !(unit >= 0x09 && unit <= 0x0D) && unit != 0x2581 /* ▁ */;
    return {is_inside ? 1U : 0U, is_inside, is_inside};
  }
  static WordCount join(const WordCount &a, const WordCount &b) {
    const bool is_one_word = a.ends_inside && b.starts_inside;
    return {a.words + b.words - (is_one_word ? 1 : 0), a.starts_inside, b.ends_inside};
  }
};

// Does not copy the units of each token, but stores one position at which the units occur in
// `bytes_`. Training may learn many overlapping tokens from one long word, so copies of their
// units could take far more memory than the word.
class LearnedTokens {
public:
  using Symbol = std::uint32_t;
  static constexpr Symbol NO_SYMBOL = static_cast<Symbol>(-1);

  // Starts with a token for each unit of `alphabet`. A unit takes `width` bytes: 1 if units are
  // bytes, 4 if units are characters.
  LearnedTokens(const std::vector<std::uint32_t> &alphabet, std::size_t width) : width_(width) {
    for (const std::uint32_t unit : alphabet)
      tokens_.push_back({store_one(unit), 1, WordCount::of_one(unit), rolling_.of_one(unit),
                         rolling_.base()});
  }

  // Adds a token that words may have before any merge. It has `count` units, at least one. If
  // an earlier token has the same units, `find` returns the earlier one. Units must take 4
  // bytes.
  void add_initial(const std::uint32_t *units, std::uint32_t count) {
    Token token = {bytes_.size() / width_, count, {}, 0, 0};
    for (std::uint32_t i = 0; i < count; ++i) {
      store_one(units[i]);
      const WordCount one = WordCount::of_one(units[i]);
      token.words = i == 0 ? one : WordCount::join(token.words, one);
      token.hash = i == 0 ? rolling_.of_one(units[i])
                          : RollingHash::multiply_add(token.hash, rolling_.base(),
                                                      rolling_.of_one(units[i]));
      token.power =
          i == 0 ? rolling_.base() : RollingHash::multiply_add(token.power, rolling_.base(), 0);
    }
    const auto symbol = static_cast<Symbol>(tokens_.size());
    tokens_.push_back(token);
    if (count == 1) // no concatenation has one unit
      return;
    slots_.make_room([this](Slot slot) { return hash_of(tokens_[slot.symbol]); });
    Slot &slot = slots_.find_or_add(hash_of(token), [&](Slot other) {
      return have_equal_units(tokens_[other.symbol], token);
    });
    if (slot.is_free())
      slot.symbol = symbol;
  }

  std::size_t size() const { return tokens_.size(); }
  // Returns the number of units of a token.
  std::uint32_t length(Symbol symbol) const { return tokens_[symbol].length; }
  // Returns the number of words in the concatenation of two tokens.
  std::uint32_t words(Symbol left, Symbol right) const {
    return WordCount::join(tokens_[left].words, tokens_[right].words).words;
  }

  // `store` stores `count` units that are bytes, and store_one stores one unit. Both return the
  // position of the first unit, for `add`.
  std::uint64_t store(const std::uint8_t *bytes, std::size_t count) {
    bytes_.insert(bytes_.end(), bytes, bytes + count);
    return bytes_.size() - count;
  }
  std::uint64_t store_one(std::uint32_t unit) {
    for (std::size_t i = 0; i < width_; ++i)
      bytes_.push_back(static_cast<std::uint8_t>(unit >> 8 * i));
    return bytes_.size() / width_ - 1;
  }

  // Returns a token that has the units of `left` and then of `right`, or NO_SYMBOL if there is
  // no such token.
  Symbol find(Symbol left, Symbol right) const {
    return slots_
        .find(hash_of(concatenate(left, right)),
              [&](Slot slot) { return is_concatenation(tokens_[slot.symbol], left, right); })
        .symbol;
  }

  // Adds the token that is the concatenation of `left` and `right`. Returns its symbol. If the
  // units of the token already occur in `bytes_`, `start` points to their position. If `start`
  // is nullptr, `add` stores the units.
  Symbol add(Symbol left, Symbol right, const std::uint64_t *start) {
    Token token = concatenate(left, right);
    token.start = start != nullptr ? *start : bytes_.size() / width_;
    if (start == nullptr)
      for (const Token &part : {tokens_[left], tokens_[right]})
        for (std::size_t i = 0; i < part.length * width_; ++i)
          bytes_.push_back(std::uint8_t{bytes_[part.start * width_ + i]});
    const auto symbol = static_cast<Symbol>(tokens_.size());
    tokens_.push_back(token);
    slots_.make_room([this](Slot slot) { return hash_of(tokens_[slot.symbol]); });
    // With TieBreak::FIRST_SEEN, several tokens may have equal units. So always add a new slot.
    slots_.find_or_add(hash_of(token), [](Slot) { return false; }).symbol = symbol;
    return symbol;
  }

private:
  struct Token {
    std::uint64_t start;  // position of its first unit in bytes_, in units
    std::uint32_t length; // in units
    WordCount words;
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
    return {0, a.length + b.length, WordCount::join(a.words, b.words),
            RollingHash::multiply_add(a.hash, b.power, b.hash),
            RollingHash::multiply_add(a.power, b.power, 0)};
  }

  bool is_concatenation(const Token &token, Symbol left, Symbol right) const {
    const Token &a = tokens_[left];
    const Token &b = tokens_[right];
    const auto is_part = [this](std::uint64_t at, const Token &part) {
      const std::uint8_t *bytes = bytes_.data();
      return std::memcmp(bytes + at * width_, bytes + part.start * width_,
                         part.length * width_) == 0;
    };
    return token.length == a.length + b.length && is_part(token.start, a) &&
           is_part(token.start + a.length, b);
  }

  bool have_equal_units(const Token &a, const Token &b) const {
    return a.length == b.length &&
           std::memcmp(bytes_.data() + a.start * width_, bytes_.data() + b.start * width_,
                       a.length * width_) == 0;
  }

  std::uint64_t hash_of(const Token &token) const { return hash_words(token.hash, 0, key_); }

  HashKey key_ = hash_key();
  RollingHash rolling_{key_};
  std::size_t width_; // of a unit, in bytes
  std::vector<std::uint8_t> bytes_;
  std::vector<Token> tokens_;
  OpenTable<Slot> slots_{2048}; // all tokens that are not in the alphabet, by their units
};

} // namespace pretok
