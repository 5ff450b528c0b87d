// A text that counts the reads of its code points. Unlike the time, the number of reads is the
// same in each run.
#pragma once

#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Like Utf8, but adds 1 to `reads` for each read of a code point.
class CountedText {
public:
  CountedText(const Utf8 &text, std::uint64_t &reads) : text_(text), reads_(&reads) {}

  std::size_t size() const { return text_.size(); }
  std::uint32_t code_point(std::size_t at) const {
    ++*reads_;
    return text_.code_point(at);
  }
  Element element(std::size_t at) const {
    ++*reads_;
    return text_.element(at);
  }
  std::size_t last_start(std::size_t start, std::size_t end) const {
    ++*reads_;
    return text_.last_start(start, end);
  }
  const Utf8 &text() const { return text_; }
  std::uint64_t &reads() const { return *reads_; }

private:
  Utf8 text_;
  std::uint64_t *reads_;
};

inline CountedText part_of(const CountedText &text, std::size_t start, std::size_t end,
                           const ClassTable &classes) {
  return {part_of(text.text(), start, end, classes), text.reads()};
}
inline void read(const Kernels &use, const CountedText &text, std::size_t at,
                 ClassBuffer &buffer) {
  read(use, text.text(), at, buffer);
}

// Returns how often each code point of a text may be read on average: a few times by each
// stage, and by each rule in proportion to its look-ahead.
inline std::uint64_t max_reads_per_code_point(const std::vector<StageProgram> &stages) {
  std::uint64_t max_reads = 0;
  for (const StageProgram &stage : stages) {
    max_reads += 8;
    for (const Rule &rule : stage.program.rules)
      max_reads += 4 + 3 * std::uint64_t{look_ahead(rule)};
  }
  return max_reads;
}

// Returns the number of reads by the plain machine or the fast path, whichever is larger.
inline std::uint64_t reads_of(const PreTokenizer &tokenizer, const Utf8 &text,
                              const Kernels &use) {
  std::uint64_t plain = 0;
  tokenizer.steps(CountedText(text, plain), [](std::size_t, std::size_t, int) {});
  std::uint64_t fast = 0;
  tokenizer.spans(CountedText(text, fast), use, [](std::size_t, std::size_t, int) {});
  return plain > fast ? plain : fast;
}

} // namespace pretok
