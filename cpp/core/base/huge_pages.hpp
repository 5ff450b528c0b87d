// Huge pages for large blocks of memory.
#pragma once

#include <cstddef>
#include <new>

namespace pretok {

inline constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;

// Whether `size` bytes are worth huge pages. In a smaller block, too much would stay unused.
constexpr bool fills_huge_pages(std::size_t size) { return size > 2 * HUGE_PAGE; }

// Asks the system for huge pages for `size` bytes at `data`, if they are worth it. Most of the
// block should be unwritten: each small page that is written first takes a page fault.
void prefer_huge_pages(void *data, std::size_t size);

// Asks the system for huge pages for any number of whole pages. Both functions do nothing if
// the environment has PRETOK_HUGE_PAGES=0, which is read once, or with -DPRETOK_HUGE_PAGES=OFF.
void advise_huge_pages(void *data, std::size_t size);

// An allocator for tables with random access. A large block is aligned to a huge page, a
// smaller one to a cache line.
template <typename T> struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <typename Other> HugePages(const HugePages<Other> &) {}

  T *allocate(std::size_t count) {
    const std::size_t size = count * sizeof(T);
    void *memory = ::operator new(size, alignment(count));
    prefer_huge_pages(memory, size);
    return static_cast<T *>(memory);
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
