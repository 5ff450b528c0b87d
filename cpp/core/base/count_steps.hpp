// count_step() counts the steps of a search. Fuzz targets define PRETOK_COUNT_STEPS, and test
// that the number of steps is linear. In other builds count_step() does nothing.
#pragma once

#include <cstddef>

namespace pretok {

#ifdef PRETOK_COUNT_STEPS
inline thread_local std::size_t counted_steps = 0;

inline void count_step() { ++counted_steps; }
#else
inline void count_step() {}
#endif

} // namespace pretok
