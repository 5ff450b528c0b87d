// Runs tasks on threads that live only as long as the call. There is no pool, so forks are
// safe.
#pragma once

#include <functional>
#include <vector>

namespace pretok {

// Calls each function of `work` once, on up to `threads` threads, including the calling thread.
// After all have ended, rethrows one of the exceptions they threw, if any.
void run_all(const std::vector<std::function<void()>> &work, unsigned threads);

} // namespace pretok
