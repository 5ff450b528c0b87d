#include "core/cache/cache_memory.hpp"

#include "core/base/huge_pages.hpp"

#include <cstdint>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pretok {
namespace {

constexpr std::align_val_t LINE{64};

#if defined(__linux__)
// Blocks of at least this size are mapped, so that freeing a block returns its memory to the
// system. Smaller blocks come from operator new, which reuses freed memory. Setting reused
// memory to zero takes less time than the page faults of fresh memory.
constexpr std::size_t MIN_MAPPED_BYTES = std::size_t{2} << 20;

void *map(std::size_t size) {
  void *const data =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data != MAP_FAILED ? data : nullptr;
}

// Maps a block that starts at a multiple of HUGE_PAGE. Maps one huge page more than `size`, and
// unmaps the memory before and after the block.
void *map_huge_pages(std::size_t size) {
  auto *const data = static_cast<unsigned char *>(map(size + HUGE_PAGE));
  if (data == nullptr)
    return nullptr;
  const std::size_t before =
      (HUGE_PAGE - reinterpret_cast<std::uintptr_t>(data) % HUGE_PAGE) % HUGE_PAGE;
  if (before != 0)
    munmap(data, before);
  munmap(data + before + size, HUGE_PAGE - before);
  advise_huge_pages(data + before, size);
  return data + before;
}
#endif

} // namespace

void *allocate_block(std::size_t size, bool is_dense) {
#if defined(__linux__)
  if (size >= MIN_MAPPED_BYTES)
    return is_dense && size % HUGE_PAGE == 0 ? map_huge_pages(size) : map(size);
#endif
  static_cast<void>(is_dense);
  void *const data = ::operator new(size, LINE, std::nothrow);
  if (data != nullptr)
    std::memset(data, 0, size);
  return data;
}

std::size_t block_size(std::size_t size, std::size_t max_size) {
#if defined(__linux__)
  if (sizeof(void *) >= 8 && size >= HUGE_PAGE)
    return max_size;
#endif
  static_cast<void>(max_size);
  return size;
}

void free_block(void *data, std::size_t size) {
#if defined(__linux__)
  if (size >= MIN_MAPPED_BYTES) {
    munmap(data, size);
    return;
  }
#endif
  static_cast<void>(size);
  ::operator delete(data, LINE);
}

} // namespace pretok
