// Asking for large pages where much memory is about to be filled from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pretok {

// Tells the system that `size` bytes from `data` on, which nothing was written to so far, are
// better backed by huge pages: with small ones, the page faults take longer than the work.
inline void prefer_huge_pages([[maybe_unused]] void *data, [[maybe_unused]] std::size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t PAGE = std::uintptr_t{2} << 20;
  if (size < 2 * PAGE)
    return;
  const auto start = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (start + PAGE - 1) & ~(PAGE - 1);
  const std::uintptr_t last = (start + size) & ~(PAGE - 1);
  // A system without them refuses, which does no harm.
  madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
#endif
}

// For the memory of a large table that is looked into at random: it begins where a huge page
// does.
template <typename T> struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <typename Other> HugePages(const HugePages<Other> &) {}

  T *allocate(std::size_t count) {
    const std::size_t size = count * sizeof(T);
    if (size < LARGE)
      return static_cast<T *>(::operator new(size));
    void *found = ::operator new(size, std::align_val_t{ALIGNMENT});
    prefer_huge_pages(found, size);
    return static_cast<T *>(found);
  }
  void deallocate(T *data, std::size_t count) {
    if (count * sizeof(T) < LARGE)
      ::operator delete(data);
    else
      ::operator delete(data, std::align_val_t{ALIGNMENT});
  }
  friend bool operator==(HugePages, HugePages) { return true; }
  friend bool operator!=(HugePages, HugePages) { return false; }

private:
  static constexpr std::size_t ALIGNMENT = std::size_t{2} << 20;
  static constexpr std::size_t LARGE = 2 * ALIGNMENT;
};

} // namespace pretok
