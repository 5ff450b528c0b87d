#include "core/split/safe_cut.hpp"

#include "core/base/sizes.hpp"
#include "core/split/fast/neighbors.hpp"
#include "core/split/sources.hpp"

#include <vector>

namespace pretok {
namespace {

// The maximum number of candidate cuts to test in one window of the text.
constexpr std::size_t TRIES = 16;
// The maximum number of pairs of code points to test for a cut within a pre-token, from the end
// of a window. A text without such a cut among so many pairs mostly has none.
constexpr std::size_t JOINT_TRIES = 256;

using Accepts = FunctionRef<bool(std::size_t)>;
using Divides = FunctionRef<bool(std::size_t, bool)>;

// Finds safe cuts in a text whose last UTF-8 sequence is complete.
class Finder {
public:
  Finder(const PreTokenizer &pre_tokenizer, const std::uint8_t *data, std::size_t size,
         Accepts accepts)
      : pre_tokenizer_(pre_tokenizer), text_(data, size, pre_tokenizer.classes()),
        accepts_(accepts) {}

  // Returns the last safe cut after `from` that it finds, or 0. A code point must start at
  // `from`. If `is_start`, a pre-token starts there too.
  std::size_t find(std::size_t from, bool is_start) const {
    const NeighborTable &cuts = *pre_tokenizer_.cuts();
    std::size_t tries = 0;
    std::size_t cut = 0; // the last BOUNDARY found
    // Returns whether `cut` is safe, after a search that begins at `start`.
    const auto is_found = [&](std::size_t start) {
      return cut != 0 && tries++ < TRIES && accepts_(cut) && is_safe(start, cut);
    };
    std::size_t at = text_.last_start(from, text_.size());
    std::uint8_t after = text_.element(at).class_;
    while (at != from) {
      const std::size_t start = text_.last_start(from, at);
      const std::uint8_t before = text_.element(start).class_;
      if (cuts.has_boundary(before, after)) {
        if (is_found(at))
          return cut;
        cut = at;
      }
      at = start;
      after = before;
    }
    if (is_start)
      return is_found(from) ? cut : last_end(from);
    return cut == 0 ? 0 : last_end(cut);
  }

  // Returns the last cut after `from` within a pre-token that it finds, or 0. A code point must
  // start at `from`.
  std::size_t find_within(std::size_t from, Divides divides) const {
    std::size_t at = text_.last_start(from, text_.size());
    std::uint8_t after = text_.element(at).class_;
    for (std::size_t tries = 0; at != from && tries < JOINT_TRIES; ++tries) {
      const std::size_t start = text_.last_start(from, at);
      const std::uint8_t before = text_.element(start).class_;
      if (divides(start, pre_tokenizer_.is_joint(before, after)) && accepts_(at))
        return at;
      at = start;
      after = before;
    }
    return 0;
  }

private:
  // Returns whether the text from `start` to `cut` has the same split with and without the code
  // point after `cut`. `cut` must be a BOUNDARY. `start` must be a BOUNDARY or the start of the
  // text.
  bool is_safe(std::size_t start, std::size_t cut) const {
    ends_.clear();
    for_ends(start, cut, cut, [&](std::size_t end) { ends_.push_back(end); });
    std::size_t count = 0;
    bool is_same = true;
    for_ends(start, cut + text_.element(cut).width, cut, [&](std::size_t end) {
      is_same = is_same && count < ends_.size() && ends_[count] == end;
      ++count;
    });
    return is_same && count == ends_.size();
  }

  // Splits the part of the text from `start` to `end` as a text of its own. Calls emit(end)
  // with the ends of its pre-tokens up to `last`, as positions in the whole text.
  template <typename Emit>
  void for_ends(std::size_t start, std::size_t end, std::size_t last, Emit emit) const {
    pre_tokenizer_.steps(part_of(text_, start, end, text_.classes()),
                         [&](std::size_t, std::size_t at, int) {
                           if (start + at <= last)
                             emit(start + at);
                         });
  }

  // Returns the last safe cut among the ends of pre-tokens of the first stage, or 0. Tests only
  // the last TRIES ends that accepts_ accepts. A pre-token of the first stage must start at
  // `start`. An end is a safe cut if the text before the end has the same split with and
  // without the text after the end. The test is necessary, because the end of a pre-token may
  // depend on text after the pre-token.
  std::size_t last_end(std::size_t start) const {
    const Machine &machine = *pre_tokenizer_.first();
    std::vector<std::size_t> &positions = ends_;
    positions.clear();
    machine.run(part_of(text_, start, text_.size(), text_.classes()), true, false,
                [&](std::size_t end, int) { positions.push_back(start + end); });
    std::size_t tries = 0;
    for (std::size_t tried = positions.size(); tried > 0 && tries < TRIES; --tried) {
      const std::size_t cut = positions[tried - 1];
      if (!accepts_(cut))
        continue;
      ++tries;
      std::size_t count = 0;
      bool is_same = true;
      machine.run(part_of(text_, start, cut, text_.classes()), false, false,
                  [&](std::size_t end, int) {
                    is_same = is_same && count < tried && positions[count] == start + end;
                    ++count;
                  });
      if (is_same && count == tried)
        return cut;
    }
    return 0;
  }

  const PreTokenizer &pre_tokenizer_;
  const Utf8 text_;
  const Accepts accepts_;
  mutable std::vector<std::size_t> ends_; // keeps its memory for the next test
};

} // namespace

std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size) {
  size -= incomplete_size(data, size);
  if (pre_tokenizer.first() == nullptr || size == 0)
    return 0;
  const auto any = [](std::size_t) { return true; };
  const Finder finder(pre_tokenizer, data, size, any);
  // Most texts have a safe cut near the end, so search the last 1024 bytes first. A search that
  // fails is repeated in 16 times as many bytes.
  for (std::size_t window = 1024;; window = saturating_multiply<std::size_t>(window, 16)) {
    if (window >= size)
      return finder.find(0, true);
    std::size_t from = size - window;
    while (from < size && is_tail(data[from]))
      ++from;
    const std::size_t cut = from == size ? 0 : finder.find(from, false);
    if (cut != 0)
      return cut;
  }
}

std::size_t safe_cut_in(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                        std::size_t start, std::size_t end, Accepts accepts, Divides divides) {
  if (pre_tokenizer.first() == nullptr)
    return 0;
  end -= incomplete_size(data, end);
  while (start < end && is_tail(data[start]))
    ++start;
  if (start >= end)
    return 0;
  const Finder finder(pre_tokenizer, data, end, accepts);
  const std::size_t cut = finder.find(start, false);
  return cut != 0 ? cut : finder.find_within(start, divides);
}

} // namespace pretok
