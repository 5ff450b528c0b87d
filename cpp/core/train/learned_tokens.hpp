// The tokens that training learns, and a look-up by their units, which are bytes or characters.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// The units of every token are stored, unless no later token is compared with it.
class LearnedTokens {
public:
  using Symbol = std::uint32_t;
  static constexpr Symbol NO_SYMBOL = static_cast<Symbol>(-1);

  // Adds a token that words may have before any merge. It has `count` units, at least one. If
  // an earlier token has the same units, `find` returns the earlier one.
  void add_initial(const std::uint32_t *units, std::uint32_t count) {
    Token token = {units_.size(), count, {}, 0, 0};
    for (std::uint32_t i = 0; i < count; ++i) {
      units_.push_back(units[i]);
      const WordCount one = WordCount::of_one(units[i]);
      token.words = i == 0 ? one : WordCount::join(token.words, one);
      token.hash = i == 0 ? rolling_.of_one(units[i])
                          : RollingHash::multiply_add(token.hash, rolling_.base(),
                                                      rolling_.of_one(units[i]));
      token.power =
          i == 0 ? rolling_.base() : RollingHash::multiply_add(token.power, rolling_.base(), 0);
    }
    tokens_.push_back(token);
    if (count > 1) // no concatenation has one unit
      add_slot();
  }

  std::size_t size() const { return tokens_.size(); }
  // Returns the number of units of a token.
  std::uint32_t length(Symbol symbol) const { return tokens_[symbol].length; }
  // Returns the number of words in the concatenation of two tokens.
  std::uint32_t words(Symbol left, Symbol right) const {
    return WordCount::join(tokens_[left].words, tokens_[right].words).words;
  }

  // Returns a token that has the units of `left` and then of `right`, or NO_SYMBOL if there is
  // no such token.
  Symbol find(Symbol left, Symbol right) const {
    return slots_
        .find(hash_of(concatenate(left, right)),
              [&](Slot slot) { return is_concatenation(tokens_[slot.symbol], left, right); })
        .symbol;
  }

  // Adds the token that is the concatenation of `left` and `right`. Returns its symbol. Unless
  // `may_be_found`, neither this token nor tokens made of it are arguments or results of
  // `find`. Training may learn many overlapping tokens from one long word, whose units would
  // take far more memory than the word.
  Symbol add(Symbol left, Symbol right, bool may_be_found) {
    Token token = concatenate(left, right);
    token.start = units_.size();
    tokens_.push_back(token);
    if (may_be_found) {
      for (const Symbol part : {left, right})
        for (std::size_t i = 0; i < tokens_[part].length; ++i)
          units_.push_back(std::uint32_t{units_[tokens_[part].start + i]});
      add_slot();
    }
    return static_cast<Symbol>(tokens_.size() - 1);
  }

private:
  struct Token {
    std::uint64_t start;  // index of its first unit in units_
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

  // Adds a slot for the last token, unless an earlier token has the same units.
  void add_slot() {
    const Token &last = tokens_.back();
    slots_.make_room([this](Slot slot) { return hash_of(tokens_[slot.symbol]); });
    Slot &slot = slots_.find_or_add(hash_of(last), [&](Slot other) {
      const Token &token = tokens_[other.symbol];
      return token.length == last.length && is_at(token.start, last);
    });
    if (slot.is_free())
      slot.symbol = static_cast<Symbol>(tokens_.size() - 1);
  }

  bool is_concatenation(const Token &token, Symbol left, Symbol right) const {
    const Token &a = tokens_[left];
    const Token &b = tokens_[right];
    return token.length == a.length + b.length && is_at(token.start, a) &&
           is_at(token.start + a.length, b);
  }

  // Returns whether the units of a token are at `start`, too.
  bool is_at(std::uint64_t start, const Token &token) const {
    return std::equal(units_.begin() + static_cast<std::ptrdiff_t>(start),
                      units_.begin() + static_cast<std::ptrdiff_t>(start + token.length),
                      units_.begin() + static_cast<std::ptrdiff_t>(token.start));
  }

  std::uint64_t hash_of(const Token &token) const { return hash_words(token.hash, 0, key_); }

  HashKey key_ = hash_key();
  RollingHash rolling_{key_};
  std::vector<std::uint32_t> units_;
  std::vector<Token> tokens_;
  OpenTable<Slot> slots_{2048}; // all tokens that are not in the alphabet, by their units
};

} // namespace pretok
