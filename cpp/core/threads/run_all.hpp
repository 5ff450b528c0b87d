// Calls functions on threads that end with the call. There is no thread pool, so a fork()
// between two calls loses no threads.
#pragma once

#include <functional>
#include <vector>

namespace pretok {

// Calls each function of `work` once, on at most `threads` threads, including the calling
// thread. If a function throws, its thread calls no more functions, so some functions may not
// be called. Then run_all rethrows one of the exceptions after all threads have ended.
void run_all(const std::vector<std::function<void()>> &work, unsigned threads);

} // namespace pretok
