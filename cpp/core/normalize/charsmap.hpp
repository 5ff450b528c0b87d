// The replacement rules of a SentencePiece normalizer (`precompiled_charsmap` of a model), in a
// double-array trie. bpe/normalizers/charsmap.py describes the format, and has the same search
// in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class Charsmap {
public:
  // Without rules.
  Charsmap() = default;
  // Copies a blob. The constructor of Charsmap in Python rejects malformed blobs. The search in
  // a malformed blob may find wrong rules, but stays within the blob.
  Charsmap(const std::uint8_t *blob, std::size_t size);

  // Returns what is wrong with the trie: a problem that `_check` of bpe/normalizers/charsmap.py
  // names; nullptr if nothing is. Then max_growth() is known. Takes time linear in the trie for
  // each of at most 256 levels.
  const char *find_problem();

  // Returns the maximum number of bytes that a rule makes of a byte of a text, if each space
  // becomes three bytes; at least 1.
  std::size_t max_growth() const { return max_growth_; }

  struct Rule {
    std::size_t size; // of the text that the rule replaces, in bytes; 0 if no rule matches
    const std::uint8_t *replacement;
    std::size_t replacement_size;
  };
  // Returns the longest or the shortest rule that `text` begins with.
  Rule longest(const std::uint8_t *text, std::size_t size) const;
  Rule shortest(const std::uint8_t *text, std::size_t size) const;

  // Returns whether a rule may match at the ASCII character `first` before another ASCII
  // character, or at the end of a text.
  bool may_match_in_ascii(std::uint8_t first) const;

private:
  // The constants of bpe/normalizers/charsmap.py.
  static constexpr std::size_t MAX_RULE_BYTES = 256;
  static constexpr std::size_t MAX_RULE_GROWTH = 1024;
  static constexpr std::uint32_t NO_UNIT = 0xFFFFFFFF; // no unit of a label has bit 31

  std::uint32_t unit(std::size_t at) const { return at < units_.size() ? units_[at] : NO_UNIT; }
  // Calls visit(rule) for each rule that `text` begins with, shortest first, until it returns
  // false.
  template <typename Visit>
  void for_rules(const std::uint8_t *text, std::size_t size, Visit visit) const;

  std::vector<std::uint32_t> units_;
  std::vector<std::uint8_t> replacements_;
  std::size_t max_growth_ = 1;
};

} // namespace pretok
