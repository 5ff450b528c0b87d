// A table over all code points in pages of 256 code points. Each page is computed when a text
// first needs it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace pretok {

inline constexpr std::size_t CHARACTERS_PER_PAGE = 256; // in code points

// Several threads may read and store pages at the same time.
template <typename Page> class LazyPages {
public:
  LazyPages() = default;
  LazyPages(const LazyPages &) = delete;
  LazyPages &operator=(const LazyPages &) = delete;
  ~LazyPages() {
    for (const auto &page : pages_)
      delete page.load(std::memory_order_relaxed);
  }

  // Returns the page of a code point, or nullptr if it has not been stored.
  const Page *find(std::uint32_t code_point) const {
    return pages_[code_point / CHARACTERS_PER_PAGE].load(std::memory_order_acquire);
  }

  // Stores the page of a code point. If another thread has stored this page, keeps that page.
  void store(std::uint32_t code_point, std::unique_ptr<const Page> page) {
    const Page *before = nullptr;
    if (pages_[code_point / CHARACTERS_PER_PAGE].compare_exchange_strong(
            before, page.get(), std::memory_order_acq_rel))
      static_cast<void>(page.release());
  }

private:
  std::array<std::atomic<const Page *>, 0x110000 / CHARACTERS_PER_PAGE> pages_{};
};

} // namespace pretok
