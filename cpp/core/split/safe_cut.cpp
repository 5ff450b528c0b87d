#include "core/split/safe_cut.hpp"

#include "core/base/sizes.hpp"
#include "core/split/fast/neighbors.hpp"
#include "core/split/sources.hpp"

#include <algorithm>
#include <vector>

namespace pretok {
namespace {

// Candidates that are tried before the window grows.
constexpr std::size_t TRIES = 16;

// Returns the number of bytes at the end that may begin an incomplete sequence.
std::size_t incomplete(const std::uint8_t *data, std::size_t size) {
  std::size_t tails = 0;
  while (tails < size && tails < 3 && is_tail(data[size - 1 - tails]))
    ++tails;
  if (tails == size || data[size - 1 - tails] < 0xC0)
    return 0;
  const std::uint8_t lead = data[size - 1 - tails];
  const std::size_t wanted = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  return tails < wanted ? tails + 1 : 0;
}

// Returns the first BOUNDARY of `source` after `from`, which starts a code point.
std::size_t first_cut(const NeighborTable &cuts, const Utf8 &source, std::size_t from) {
  Element before = source.element(from);
  std::size_t at = from + before.width;
  while (at < source.size()) {
    const Element element = source.element(at);
    if (cuts.has_boundary(before.class_, element.class_))
      return at;
    before = element;
    at += element.width;
  }
  return at;
}

// As safe_cut, for a text that starts a pre-token; the cut must satisfy accepts(cut).
std::size_t last_end(const Machine &machine, const std::uint8_t *data, std::size_t size,
                     const std::function<bool(std::size_t)> &accepts) {
  std::vector<std::size_t> ends;
  machine.run(Utf8(data, size, machine.classes()), true, false,
              [&ends](std::size_t end, int) { ends.push_back(end); });
  // A cut is safe if the text before it is split alike with and without the text after it. A
  // pre-token may look past its own end, but not past the next pre-token.
  std::size_t tries = 0;
  for (std::size_t tried = ends.size(); tried > 0 && tries < TRIES; --tried) {
    if (!accepts(ends[tried - 1]))
      continue;
    ++tries;
    std::size_t count = 0;
    bool same = true;
    machine.run(Utf8(data, ends[tried - 1], machine.classes()), false, false,
                [&](std::size_t end, int) {
                  same = same && count < tried && ends[count] == end;
                  ++count;
                });
    if (same && count == tried)
      return ends[tried - 1];
  }
  return 0;
}

} // namespace

std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size) {
  if (pre_tokenizer.first() == nullptr)
    return 0;
  const Machine &machine = *pre_tokenizer.first();
  size -= incomplete(data, size);
  const Utf8 source(data, size, machine.classes());
  const auto any = [](std::size_t) { return true; };
  for (std::size_t window = 1024;; window = saturating_multiply<std::size_t>(window, 16)) {
    if (window >= size)
      return last_end(machine, data, size, any);
    std::size_t from = size - window;
    while (from < size && is_tail(data[from]))
      ++from;
    if (from == size)
      continue;
    const std::size_t cut = first_cut(*pre_tokenizer.cuts(), source, from);
    if (cut == size)
      continue;
    const std::size_t end = last_end(machine, data + cut, size - cut, any);
    if (end != 0)
      return cut + end;
  }
}

std::size_t safe_cut_in(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                        std::size_t start, std::size_t end,
                        const std::function<bool(std::size_t)> &accepts) {
  if (pre_tokenizer.first() == nullptr)
    return 0;
  const Machine &machine = *pre_tokenizer.first();
  end -= incomplete(data, end);
  while (start < end && is_tail(data[start]))
    ++start;
  if (start >= end)
    return 0;
  const std::size_t cut = first_cut(*pre_tokenizer.cuts(), Utf8(data, end, machine.classes()), start);
  if (cut >= end)
    return 0;
  const std::size_t offset = last_end(machine, data + cut, end - cut,
                                      [&](std::size_t last) { return accepts(cut + last); });
  return offset == 0 ? 0 : cut + offset;
}

} // namespace pretok
