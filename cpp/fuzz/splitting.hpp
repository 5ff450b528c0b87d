// Checks properties of splitting that hold for every pre-tokenizer and every text.
#pragma once

#include "core/split/pre_tokenizer.hpp"
#include "core/split/safe_cut.hpp"
#include "fuzz/input.hpp"

#include <vector>

namespace pretok {

using Positions = std::vector<std::size_t>;

// Returns the ends of the pre-tokens by the fast path with the kernels `use`.
template <typename Source>
Positions ends_by(const PreTokenizer &tokenizer, const Source &source, const Kernels &use) {
  Positions ends;
  split(
      tokenizer, source,
      [&](const std::size_t *new_ends, std::size_t count) {
        ends.insert(ends.end(), new_ends, new_ends + count);
      },
      use);
  return ends;
}

// Checks that the fast path with these kernels gives the spans of tokenizer.steps(), which
// applies the rules one by one. Also checks that the spans cover the text, except for removed
// text. Returns the ends of the spans.
template <typename Source>
Positions check_split(const PreTokenizer &tokenizer, const Source &source, const Kernels &use) {
  Positions starts;
  Positions ends;
  tokenizer.steps(source, [&](std::size_t start, std::size_t end, int) {
    starts.push_back(start);
    ends.push_back(end);
  });
  std::size_t done = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    check(tokenizer.removes() ? starts[i] >= done : starts[i] == done,
          "pre-tokens are in order, and without gaps if no text is removed");
    check(ends[i] > starts[i], "no pre-token is empty");
    done = ends[i];
  }
  check(tokenizer.removes() ? done <= source.size() : done == source.size(),
        "the last pre-token ends at the end of the text, or before it if text is removed");
  if (!tokenizer.removes()) {
    check(ends_by(tokenizer, source, use) == ends,
          "the fast path gives the spans of the machine");
    check(count(tokenizer, source, use) == ends.size(),
          "the fast path counts the pre-tokens that it gives");
    return ends;
  }
  std::size_t i = 0;
  tokenizer.spans(source, use, [&](std::size_t start, std::size_t end, int) {
    check(i < ends.size() && start == starts[i] && end == ends[i],
          "the fast path gives the spans of the machine");
    ++i;
  });
  check(i == ends.size(), "the fast path gives the spans of the machine");
  return ends;
}

// Splits a text in two steps, as a stream does. The first step splits the first `known` bytes,
// rounded up to a whole code point. The second step splits the whole text from the position
// where the first step was undecided. Checks that both steps together give `whole`, the ends of
// the pre-tokens of the whole text.
inline void check_parts(const Machine &machine, const std::vector<std::uint8_t> &text,
                        std::size_t known, const Positions &whole) {
  Positions ends;
  const auto add = [&ends](std::size_t end, int) { ends.push_back(end); };
  while (known < text.size() && (text[known] & 0xC0) == 0x80)
    ++known;
  const Utf8 start(text.data(), known, machine.classes());
  const Undecided undecided = machine.run(start, true, false, add);
  check(undecided.position <= undecided.restart && undecided.restart <= known,
        "splitting resumes within the text");
  const std::size_t begin = undecided.rule == GAP ? undecided.position : undecided.restart;
  const Utf8 end = part_of(Utf8(text.data(), text.size(), machine.classes()), begin,
                           text.size(), machine.classes());
  const auto add_later = [&](std::size_t at, int rule) {
    // A gap is text that no rule matches. It ends where the next match begins, which may be
    // before the position where this step resumed.
    ends.push_back(rule == GAP && at == 0 ? undecided.position : begin + at);
  };
  if (undecided.rule == GAP)
    machine.run(end, false, undecided.in_gap, add_later);
  else
    machine.run_from(undecided.rule, end, false, undecided.in_gap, add_later);
  check(ends == whole, "splitting in two steps gives the spans of the whole text");
}

// Returns one of the kernels (implementations for an instruction set) that this processor can
// run.
inline const Kernels &kernels_at(std::size_t number) {
  return *all_kernels()[number % all_kernels().size()];
}

// Finds a safe cut in the first `known` bytes, and checks that splitting both sides of the cut
// gives the spans of the whole text.
inline void check_safe_cut(const PreTokenizer &tokenizer, const std::vector<std::uint8_t> &text,
                           std::size_t known, const Kernels &use, const Positions &whole) {
  const std::vector<std::uint8_t> start(text.begin(),
                                        text.begin() + static_cast<std::ptrdiff_t>(known));
  const std::size_t cut = safe_cut(tokenizer, start.data(), start.size());
  check(cut <= known, "a cut is within the text");
  if (cut == 0)
    return;
  Positions joined = ends_by(tokenizer, Utf8(text.data(), cut, tokenizer.classes()), use);
  for (const std::size_t end :
       ends_by(tokenizer, Utf8(text.data() + cut, text.size() - cut, tokenizer.classes()), use))
    joined.push_back(cut + end);
  check(joined == whole, "both sides of a safe cut together have the spans of the whole text");
}

} // namespace pretok
