#include "core/threads/run_all.hpp"

#include "core/threads/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

namespace pretok {

void run_all(const std::vector<std::function<void()>> &work, unsigned threads) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < work.size(); i = next++)
        work[i]();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  HelperThreads helpers;
  const std::size_t count = std::min<std::size_t>(threads, work.size());
  helpers.start(count - (count != 0 ? 1 : 0), loop);
  loop();
  helpers.join();
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace pretok
