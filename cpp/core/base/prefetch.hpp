// Prefetching memory into the processor's cache.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace pretok {

inline void prefetch(const void *address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
  // GCC removes calls of functions that only prefetch. The empty assembly counts as a side
  // effect, so GCC keeps the calls.
  __asm__ volatile("");
#elif defined(_M_X64)
  _mm_prefetch(static_cast<const char *>(address), _MM_HINT_T0);
#else
  static_cast<void>(address);
#endif
}

} // namespace pretok
