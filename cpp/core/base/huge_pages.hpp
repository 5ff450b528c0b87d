// Huge pages (2 MiB each on x86-64) for large blocks of memory.
#pragma once

#include <cstddef>

namespace pretok {

inline constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;

// Returns whether a block of `size` bytes is large enough for huge pages. A smaller block would
// waste too much of its last huge page.
constexpr bool fills_huge_pages(std::size_t size) { return size > 2 * HUGE_PAGE; }

// Asks the system for huge pages for `size` bytes at `data`, if fills_huge_pages(size). Call it
// before the first write to the block, since the first write to each small page costs a page
// fault.
void prefer_huge_pages(void *data, std::size_t size);

// Asks the system for huge pages for `size` bytes at `data`. `data` and `size` must be
// multiples of the size of a small page.
//
// This function and prefer_huge_pages do nothing if the environment has PRETOK_HUGE_PAGES=0, or
// in a build with -DPRETOK_HUGE_PAGES=OFF. The environment is read once.
void advise_huge_pages(void *data, std::size_t size);

// Allocates a block, and calls prefer_huge_pages for it. Aligns it to a huge page if
// fills_huge_pages(size), otherwise to a cache line. Throws std::bad_alloc.
void *allocate_huge_pages(std::size_t size);
// `size` must be the size that was allocated.
void free_huge_pages(void *data, std::size_t size);

// An allocator for containers that are read at random positions, such as hash tables.
template <typename T> struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <typename Other> HugePages(const HugePages<Other> &) {}

  T *allocate(std::size_t count) {
    return static_cast<T *>(allocate_huge_pages(count * sizeof(T)));
  }
  void deallocate(T *data, std::size_t count) { free_huge_pages(data, count * sizeof(T)); }
  friend bool operator==(HugePages, HugePages) { return true; }
  friend bool operator!=(HugePages, HugePages) { return false; }
};

} // namespace pretok
