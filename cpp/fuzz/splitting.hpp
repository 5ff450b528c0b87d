// What has to hold of every split, whatever the pre-tokenizer.
#pragma once

#include "input.hpp"
#include "pre_tokenizer.hpp"
#include "safe_cut.hpp"

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
