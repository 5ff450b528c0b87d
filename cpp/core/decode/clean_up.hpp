// Removes spaces before punctuation from decoded text that comes in parts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pretok {

// Has the effect of replacing all matches of each rule in the whole text, one rule after the
// other. The rules are those of transformers' option clean_up_tokenization_spaces.
// bpe/decoders/clean_up.py does the same in Python.
class CleanUp {
public:
  void feed(std::string_view text, std::string &to) {
    while (!text.empty()) {
      if (is_idle()) {
        const std::size_t size = text.find(' ');
        to.append(text.substr(0, size));
        if (size == std::string_view::npos)
          return;
        text.remove_prefix(size);
      }
      put(0, text[0], to);
      text.remove_prefix(1);
    }
  }

  // Appends the text that is held back.
  void finish(std::string &to) {
    for (std::size_t rule = 0; rule < matched_.size(); ++rule)
      release(rule, to);
  }

  // Returns whether no text is held back.
  bool is_idle() const { return held_ == 0; }

private:
  struct Rule {
    std::string_view old;
    std::string_view content;
  };
  // Each text begins with a space, and no proper prefix ends with one. So after a mismatch, no
  // part of the matched prefix can begin another match.
  static constexpr Rule RULES[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  static constexpr std::size_t COUNT = sizeof RULES / sizeof *RULES;

  void put(std::size_t rule, char byte, std::string &to) {
    for (; rule != COUNT; ++rule) {
      const Rule &each = RULES[rule];
      std::uint8_t &matched = matched_[rule];
      if (matched != 0 && each.old[matched] != byte)
        release(rule, to);
      if (each.old[matched] != byte)
        continue;
      ++matched;
      ++held_;
      if (matched == each.old.size()) {
        held_ = static_cast<std::uint8_t>(held_ - matched);
        matched = 0;
        for (const char kept : each.content)
          put(rule + 1, kept, to);
      }
      return;
    }
    to.push_back(byte);
  }

  // Passes the matched prefix of a rule on.
  void release(std::size_t rule, std::string &to) {
    const std::string_view held = RULES[rule].old.substr(0, matched_[rule]);
    held_ = static_cast<std::uint8_t>(held_ - matched_[rule]);
    matched_[rule] = 0;
    for (const char byte : held)
      put(rule + 1, byte, to);
  }

  std::array<std::uint8_t, COUNT> matched_{}; // by rule: the size of the matched prefix
  std::uint8_t held_ = 0;                     // the sum of these sizes
};

} // namespace pretok
