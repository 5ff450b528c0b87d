// Replaces malloc on glibc, elsewhere operator new, with versions that can fail on demand.
// Include it in only one source of a program, because it defines these functions.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

bool counting = false;
long long until_failure = -1; // allocations before the one that fails; negative: none fails
bool stays_out = false;       // whether all allocations after the first failure fail too
bool failed = false;          // whether an allocation has failed
long long allocations = 0;    // number of allocations while counting
long long live = 0;           // blocks allocated while counting and not yet freed

// Returns whether this allocation must fail.
bool fails() {
  if (!counting)
    return false;
  ++allocations;
  if (until_failure < 0 || until_failure-- != 0)
    return false;
  if (stays_out)
    until_failure = 0;
  return failed = true;
}

} // namespace

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                     \
    __has_feature(memory_sanitizer)
#define PRETOK_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PRETOK_SANITIZED
#endif

#if defined(__GLIBC__) && !defined(PRETOK_SANITIZED)
#define PRETOK_COUNTS_MALLOC
namespace {
std::size_t largest = 0; // largest size of an allocation while counting
}

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t size) {
  if (fails())
    return nullptr;
  void *const block = __libc_malloc(size);
  live += counting && block != nullptr;
  if (counting && block != nullptr && size > largest)
    largest = size;
  return block;
}
void *calloc(size_t count, size_t size) {
  if (fails())
    return nullptr;
  void *const block = __libc_calloc(count, size);
  live += counting && block != nullptr;
  return block;
}
void *realloc(void *before, size_t size) {
  if (fails())
    return nullptr;
  void *const block = __libc_realloc(before, size);
  live += counting && before == nullptr && block != nullptr;
  return block;
}
// Operator new with an alignment calls this function.
void *aligned_alloc(size_t alignment, size_t size) {
  if (fails())
    return nullptr;
  void *const block = __libc_memalign(alignment, size);
  live += counting && block != nullptr;
  return block;
}
void free(void *block) {
  live -= counting && block != nullptr;
  __libc_free(block);
}
}
#else
void *operator new(std::size_t size) {
  void *const block = fails() ? nullptr : std::malloc(size != 0 ? size : 1);
  if (block == nullptr)
    throw std::bad_alloc();
  live += counting;
  return block;
}
// std::stable_sort uses this form.
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  void *const block = fails() ? nullptr : std::malloc(size != 0 ? size : 1);
  live += counting && block != nullptr;
  return block;
}
void operator delete(void *block) noexcept {
  live -= counting && block != nullptr;
  std::free(block);
}
void operator delete(void *block, std::size_t) noexcept { operator delete(block); }
void operator delete(void *block, const std::nothrow_t &) noexcept { operator delete(block); }
#endif
