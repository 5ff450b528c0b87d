#include "merge.hpp"

#include <algorithm>
#include <functional>

namespace pretok {
namespace {

// The symbols as a list that skips merged places, with what each and the next one merge into.
class Chain {
public:
  Chain(std::vector<std::uint32_t> &symbols, const PairTable &pairs)
      : symbols_(symbols), pairs_(pairs), size_(static_cast<std::uint32_t>(symbols.size())),
        before_(size_), after_(size_), found_(size_, Merged{NO_RANK, NO_ID}) {
    for (std::uint32_t at = 0; at < size_; ++at) {
      before_[at] = at - 1; // NONE before the first
      after_[at] = at + 1;
      if (at + 1 < size_) {
        found_[at] = pairs_.find(symbols_[at], symbols_[at + 1]);
        if (found_[at].rank != NO_RANK)
          heap_.push_back(key(at));
      }
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  void merge_all() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const std::uint64_t lowest = heap_.back();
      heap_.pop_back();
      const auto at = static_cast<std::uint32_t>(lowest);
      // Out of date once the place has merged with another, or has been merged itself.
      if (key(at) == lowest)
        merge(at);
    }
  }

  void write_back() {
    std::size_t kept = 0;
    for (std::uint32_t at = 0; at < size_; at = after_[at])
      symbols_[kept++] = symbols_[at];
    symbols_.resize(kept);
  }

private:
  static constexpr std::uint32_t NONE = 0xFFFFFFFF;

  // Orders by rank, then by place.
  std::uint64_t key(std::uint32_t at) const {
    return std::uint64_t{found_[at].rank} << 32 | at;
  }

  void merge(std::uint32_t at) {
    symbols_[at] = found_[at].id;
    const std::uint32_t gone = after_[at];
    found_[gone].rank = NO_RANK;
    after_[at] = after_[gone];
    if (after_[at] < size_)
      before_[after_[at]] = at;
    look(at);
    if (before_[at] != NONE)
      look(before_[at]);
  }

  void look(std::uint32_t at) {
    found_[at] = after_[at] < size_ ? pairs_.find(symbols_[at], symbols_[after_[at]])
                                    : Merged{NO_RANK, NO_ID};
    if (found_[at].rank == NO_RANK)
      return;
    heap_.push_back(key(at));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::vector<std::uint32_t> &symbols_;
  const PairTable &pairs_;
  std::uint32_t size_;
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> after_;
  std::vector<Merged> found_;
  std::vector<std::uint64_t> heap_;
};

} // namespace

void merge_long(std::vector<std::uint32_t> &symbols, const PairTable &pairs) {
  Chain chain(symbols, pairs);
  chain.merge_all();
  chain.write_back();
}

} // namespace pretok
