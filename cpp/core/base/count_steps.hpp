// count_step counts the steps of a search for the fuzz targets, which define
// PRETOK_COUNT_STEPS. In other builds it does nothing.
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
