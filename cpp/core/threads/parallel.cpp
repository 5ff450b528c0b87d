#include "core/threads/parallel.hpp"

#include <algorithm>
#include <atomic>

#if defined(__linux__)
#include <sched.h>
#endif

namespace pretok {
namespace {

// A task of at most MAX_TASK_BYTES takes a few milliseconds. So all threads end at about the
// same time, and check_interrupt is called every few milliseconds. A task of at least
// MIN_TASK_BYTES is worth its overhead.
constexpr std::size_t MAX_TASK_BYTES = std::size_t{1} << 18;
constexpr std::size_t MIN_TASK_BYTES = std::size_t{1} << 14;
// If there are fewer bytes than this in total, a second thread saves less than a millisecond.
constexpr std::size_t MIN_PARALLEL_BYTES = std::size_t{1} << 20;
constexpr std::size_t MIN_BYTES_PER_THREAD = std::size_t{1} << 19;
constexpr unsigned TASKS_PER_THREAD = 16;

std::atomic<std::size_t> forced_task_size{0}; // set by set_task_size; 0: not set

// Returns the number of processors that this thread may run on.
std::size_t processor_count() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<std::size_t>(CPU_COUNT(&allowed));
#endif
  return std::thread::hardware_concurrency();
}

} // namespace

std::size_t set_task_size(std::size_t size) { return forced_task_size.exchange(size); }

TaskPlan plan_tasks(std::size_t size, unsigned requested_threads) {
  const std::size_t forced = forced_task_size.load();
  std::size_t threads = requested_threads;
  if (requested_threads == 0) {
    threads = 1;
    if (size >= MIN_PARALLEL_BYTES)
      threads = std::min<std::size_t>(processor_count(), size / MIN_BYTES_PER_THREAD);
    threads = std::max<std::size_t>(threads, 1);
  }
  std::size_t task = MAX_TASK_BYTES;
  if (threads > 1)
    task = std::clamp(size / threads / TASKS_PER_THREAD, MIN_TASK_BYTES, MAX_TASK_BYTES);
  else if (size < MIN_PARALLEL_BYTES)
    task = 0;
  return {static_cast<unsigned>(threads), forced != 0 ? forced : task};
}

} // namespace pretok
