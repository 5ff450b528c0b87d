// Asking for large pages where much memory is about to be filled from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace pretok {

inline constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;

// Tells the system that `size` bytes from `data` on, most of which nothing was written to so
// far, are better backed by huge pages: with small ones, the page faults take longer than the
// work.
inline void prefer_huge_pages([[maybe_unused]] void *data, [[maybe_unused]] std::size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (size <= 2 * HUGE_PAGE)
    return;
  // All of it, to the last small page: realloc moves the pages of a block, but copies one that
  // is advised in part, which takes its memory twice.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(data) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(data) + size;
  // A system without them refuses, which does no harm.
  madvise(reinterpret_cast<void *>(first), (end - first + page - 1) / page * page,
          MADV_HUGEPAGE);
#endif
}

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
    return std::align_val_t{count * sizeof(T) <= 2 * HUGE_PAGE ? LINE : HUGE_PAGE};
  }
};

} // namespace pretok
