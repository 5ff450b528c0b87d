// Work shared between threads that live only as long as the call: no pool, so forks are safe.
#pragma once

#include <functional>
#include <vector>

namespace pretok {

// Calls each of `work` once, on up to `threads` threads, the calling one included. Rethrows one
// of the exceptions that were thrown, if any, when all have ended.
void run_all(const std::vector<std::function<void()>> &work, unsigned threads);

} // namespace pretok
