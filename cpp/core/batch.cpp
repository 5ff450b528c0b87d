#include "batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace pretok {

void run_all(const std::vector<std::function<void()>> &work, unsigned threads) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < work.size(); i = next++)
        work[i]();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failing);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  const std::size_t wanted = std::min<std::size_t>(threads, work.size());
  try {
    for (std::size_t i = 1; i < wanted; ++i)
      helpers.emplace_back(loop);
  } catch (const std::system_error &) {
    // The system gives no more threads: those there are do all the work.
  }
  loop();
  for (std::thread &helper : helpers)
    helper.join();
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace pretok
