// Calls functions on threads that live only as long as the call. There is no thread pool, so
// fork() is safe.
#pragma once

#include <functional>
#include <vector>

namespace pretok {

// Calls each function of `work` once, on up to `threads` threads. The calling thread is one of
// them. If functions throw, rethrows one of the exceptions after all threads have ended.
void run_all(const std::vector<std::function<void()>> &work, unsigned threads);

} // namespace pretok
