// Asking for large pages where much memory is about to be filled from front to back.
#pragma once

#include <cstddef>
#include <cstdint>

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

} // namespace pretok
