// What has to hold of every split, whatever the pre-tokenizer.
#pragma once

#include "core/split/pre_tokenizer.hpp"
#include "core/split/safe_cut.hpp"
#include "fuzz/input.hpp"

#include <vector>

namespace pretok {

using Places = std::vector<std::size_t>;

template <typename Source>
Places ends_by(const PreTokenizer &tokenizer, const Source &source, const Kernels &use) {
  Places ends;
  split(
      tokenizer, source,
      [&](const std::size_t *found, std::size_t count) {
        ends.insert(ends.end(), found, found + count);
      },
      use);
  return ends;
}

// The fast path gives by these kernels what the plain machine gives, and that covers the text;
// returns it.
template <typename Source>
Places check_split(const PreTokenizer &tokenizer, const Source &source, const Kernels &use) {
  Places starts;
  Places ends;
  tokenizer.steps(source, [&](std::size_t start, std::size_t end, int) {
    starts.push_back(start);
    ends.push_back(end);
  });
  std::size_t done = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    check(tokenizer.removes() ? starts[i] >= done : starts[i] == done,
          "pre-tokens are in order");
    check(ends[i] > starts[i], "no pre-token is empty");
    done = ends[i];
  }
  check(tokenizer.removes() ? done <= source.size() : done == source.size(),
        "pre-tokens cover the text");
  if (!tokenizer.removes()) {
    check(ends_by(tokenizer, source, use) == ends, "kernels split as the machine does");
    check(count(tokenizer, source, use) == ends.size(), "kernels count what they split");
    return ends;
  }
  std::size_t i = 0;
  tokenizer.spans(source, use, [&](std::size_t start, std::size_t end, int) {
    check(i < ends.size() && start == starts[i] && end == ends[i],
          "kernels split as the machine does");
    ++i;
  });
  check(i == ends.size(), "kernels split as the machine does");
  return ends;
}

// What is decided of the start of a text is so in the whole, and the rest is split from there.
inline void check_parts(const Machine &machine, const std::vector<std::uint8_t> &text,
                        std::size_t known, const Places &whole) {
  Places ends;
  const auto add = [&ends](std::size_t end, int) { ends.push_back(end); };
  while (known < text.size() && (text[known] & 0xC0) == 0x80)
    ++known;
  const Utf8 start(text.data(), known, machine.classes());
  const Undecided undecided = machine.run(start, true, false, add);
  check(undecided.position <= undecided.restart && undecided.restart <= known,
        "a text goes on within itself");
  const std::size_t begin = undecided.rule == GAP ? undecided.position : undecided.restart;
  const Utf8 end = part_of(Utf8(text.data(), text.size(), machine.classes()), begin,
                           text.size(), machine.classes());
  const auto add_later = [&](std::size_t at, int made_by) {
    // A gap ends where the match begins, of which only the end is split again.
    ends.push_back(made_by == GAP && at == 0 ? undecided.position : begin + at);
  };
  if (undecided.rule == GAP)
    machine.run(end, false, undecided.in_gap, add_later);
  else
    machine.run_from(undecided.rule, end, false, undecided.in_gap, add_later);
  check(ends == whole, "parts are split as the whole is");
}

// Kernels that this processor can run, by a number.
inline const Kernels &kernels_at(std::size_t number) {
  return *all_kernels()[number % all_kernels().size()];
}

// A cut that is called safe for a text that goes on is safe for this one.
inline void check_safe_cut(const PreTokenizer &tokenizer, const std::vector<std::uint8_t> &text,
                           std::size_t known, const Kernels &use, const Places &whole) {
  const std::vector<std::uint8_t> start(text.begin(),
                                        text.begin() + static_cast<std::ptrdiff_t>(known));
  const std::size_t cut = safe_cut(tokenizer, start.data(), start.size());
  check(cut <= known, "a cut is within the text");
  if (cut == 0)
    return;
  Places both = ends_by(tokenizer, Utf8(text.data(), cut, tokenizer.classes()), use);
  for (const std::size_t end :
       ends_by(tokenizer, Utf8(text.data() + cut, text.size() - cut, tokenizer.classes()), use))
    both.push_back(cut + end);
  check(both == whole, "both sides of a safe cut are split as the whole is");
}

} // namespace pretok
