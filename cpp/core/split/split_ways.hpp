// Finds all ways in which texts with a known start may be split. bpe/canonical/splits.py does
// the same in Python, and explains it.
#pragma once

#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// One way to split a text `before` + token + more. `places` are the boundaries in `before`,
// without 0, in code points. `begins` says whether the token begins a pre-token.
struct SplitWay {
  std::vector<std::size_t> places;
  bool begins;

  bool operator==(const SplitWay &other) const {
    return begins == other.begins && places == other.places;
  }
};

// One way to split a token. `first` is CLOSED if a pre-token ends with the token. Otherwise it
// is the class of the first character of a text after the token, or NO_TEXT.
struct SplitRow {
  static constexpr int CLOSED = -2;
  static constexpr int NO_TEXT = -1;

  std::size_t token;
  std::size_t way;
  int first;
};

struct SplitWays {
  std::vector<SplitWay> ways;
  std::vector<SplitRow> rows; // may repeat
};

// A character that stands for its class.
struct ClassExample {
  int class_;
  std::string utf8;
  bool is_plain;   // false for a letter that only some texts tell apart
  bool is_counted; // whether a rule counts characters of the class
};

class SplitFinder {
public:
  // All stages of `pre_tokenizer` must be ISOLATED. After an apostrophe, the next `suffix_size`
  // characters may matter, and everywhere if `has_texts`.
  SplitFinder(const PreTokenizer &pre_tokenizer, std::vector<ClassExample> examples,
              std::size_t suffix_size, bool has_texts)
      : pre_tokenizer_(pre_tokenizer), examples_(std::move(examples)),
        suffix_size_(suffix_size), has_texts_(has_texts) {}

  // Returns the ways to split `before`, each of `tokens`, and any text. All are UTF-8.
  SplitWays find(const std::string &before, const std::vector<std::string> &tokens) const;

private:
  class Search;

  const PreTokenizer &pre_tokenizer_;
  std::vector<ClassExample> examples_;
  std::size_t suffix_size_;
  bool has_texts_;
};

} // namespace pretok
