#include "huge_pages.hpp"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace pretok {

void prefer_huge_pages([[maybe_unused]] void *data, [[maybe_unused]] std::size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (!fills_huge_pages(size))
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

} // namespace pretok
