#include "core/base/huge_pages.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace pretok {

#if defined(__linux__) && defined(MADV_HUGEPAGE) && !defined(PRETOK_NO_HUGE_PAGES)
namespace {

// Returns false if the environment has PRETOK_HUGE_PAGES=0.
bool are_huge_pages_allowed() {
  static const bool allowed = [] {
    const char *const value = std::getenv("PRETOK_HUGE_PAGES");
    return value == nullptr || value[0] != '0' || value[1] != '\0';
  }();
  return allowed;
}

} // namespace

void advise_huge_pages(void *data, std::size_t size) {
  // If madvise fails, the block keeps small pages.
  if (are_huge_pages_allowed())
    madvise(data, size, MADV_HUGEPAGE);
}

void prefer_huge_pages(void *data, std::size_t size) {
  if (!fills_huge_pages(size))
    return;
  // Advise every small page that holds a part of the block. Then the block stays one memory
  // mapping. When IdBuffer grows its block, realloc of the C library can move such a mapping
  // without a copy. Advising only some of the pages would split the mapping. Then realloc would
  // copy the block, and need memory for both copies.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(data) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(data) + size;
  advise_huge_pages(reinterpret_cast<void *>(first), (end - first + page - 1) / page * page);
}
#else
void advise_huge_pages(void *, std::size_t) {}
void prefer_huge_pages(void *, std::size_t) {}
#endif

namespace {

std::align_val_t alignment(std::size_t size) {
  constexpr std::size_t CACHE_LINE = 64;
  return std::align_val_t{fills_huge_pages(size) ? HUGE_PAGE : CACHE_LINE};
}

} // namespace

void *allocate_huge_pages(std::size_t size) {
  void *const data = ::operator new(size, alignment(size));
  prefer_huge_pages(data, size);
  return data;
}

void free_huge_pages(void *data, std::size_t size) { ::operator delete(data, alignment(size)); }

} // namespace pretok
