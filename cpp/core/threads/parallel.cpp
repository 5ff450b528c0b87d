#include "core/threads/parallel.hpp"

#include <algorithm>
#include <atomic>

#if defined(__linux__)
#include <sched.h>
#endif

namespace pretok {
namespace {

// Enough to be worth taking, and little enough that all threads end at about the same time and
// that an interruption is seen soon.
constexpr std::size_t LARGEST_TASK = std::size_t{1} << 18;
constexpr std::size_t LEAST_TASK = std::size_t{1} << 14;
// Below this a second thread saves less than a millisecond.
constexpr std::size_t WORTH_THREADS = std::size_t{1} << 20;
constexpr std::size_t WORTH_A_THREAD = std::size_t{1} << 19;
constexpr unsigned TASKS_PER_THREAD = 16;

std::atomic<std::size_t> forced_task_size{0};

// How many processors this thread may run on.
std::size_t processors() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<std::size_t>(CPU_COUNT(&allowed));
#endif
  return std::thread::hardware_concurrency();
}

} // namespace

std::size_t set_task_size(std::size_t size) { return forced_task_size.exchange(size); }

Sharing share(std::size_t size, unsigned asked) {
  const std::size_t forced = forced_task_size.load();
  std::size_t threads = asked;
  if (asked == 0) {
    threads = 1;
    if (size >= WORTH_THREADS)
      threads = std::min<std::size_t>(processors(), size / WORTH_A_THREAD);
    threads = std::max<std::size_t>(threads, 1);
  }
  std::size_t task = LARGEST_TASK;
  if (threads > 1)
    task = std::clamp(size / threads / TASKS_PER_THREAD, LEAST_TASK, LARGEST_TASK);
  else if (size < WORTH_THREADS)
    task = 0;
  return {static_cast<unsigned>(threads), forced != 0 ? forced : task};
}

} // namespace pretok
