// count_step() counts the steps of a search, and count_steps() the bytes that a function
// writes. Fuzz targets define PRETOK_COUNT_STEPS, and test that their number is linear. In
// other builds these functions do nothing.
#pragma once

#include <cstddef>

namespace pretok {

#ifdef PRETOK_COUNT_STEPS
inline thread_local std::size_t counted_steps = 0;

inline void count_step() { ++counted_steps; }
inline void count_steps(std::size_t count) { counted_steps += count; }
#else
inline void count_step() {}
inline void count_steps(std::size_t) {}
#endif

} // namespace pretok
