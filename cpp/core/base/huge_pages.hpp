// Asking for large pages where much memory is about to be filled from front to back.
#pragma once

#include <cstddef>
#include <new>

namespace pretok {

inline constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;

// Whether so many bytes are worth huge pages: of fewer, too much would be there unused.
constexpr bool fills_huge_pages(std::size_t size) { return size > 2 * HUGE_PAGE; }

// Tells the system that `size` bytes from `data` on, most of which nothing was written to so
// far, are better backed by huge pages: with small ones, the page faults take longer than the
// work.
void prefer_huge_pages(void *data, std::size_t size);

// Asks for huge pages for whole pages of memory, of any number. PRETOK_HUGE_PAGES=0 in the
// environment, read once, makes this and prefer_huge_pages do nothing; so does building with
// -DPRETOK_HUGE_PAGES=OFF.
void advise_huge_pages(void *data, std::size_t size);

// For the memory of a large table that is looked into at random: it begins where a huge page
// does, a smaller one where a line of the processor's cache does.
template <typename T> struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <typename Other> HugePages(const HugePages<Other> &) {}

  T *allocate(std::size_t count) {
    const std::size_t size = count * sizeof(T);
    void *found = ::operator new(size, alignment(count));
    prefer_huge_pages(found, size);
    return static_cast<T *>(found);
  }
  void deallocate(T *data, std::size_t count) { ::operator delete(data, alignment(count)); }
  friend bool operator==(HugePages, HugePages) { return true; }
  friend bool operator!=(HugePages, HugePages) { return false; }

private:
  static constexpr std::size_t LINE = 64;

  static std::align_val_t alignment(std::size_t count) {
    return std::align_val_t{fills_huge_pages(count * sizeof(T)) ? HUGE_PAGE : LINE};
  }
};

} // namespace pretok
