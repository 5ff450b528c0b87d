// Tests running out of memory while helper threads start. The threads that did start, and the
// calling thread, must do all the work.
#include "tests/failing_memory.hpp"

#include "core/threads/parallel.hpp"
#include "core/threads/run_all.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

namespace {

using namespace pretok;

constexpr unsigned THREADS = 4;
constexpr int TASKS = 50;

std::atomic<int> done{0};

struct Sum {
  int value = 0;
  void append(Sum &other) {
    value += other.value;
    other.value = 0;
  }
};

// Each function throws std::bad_alloc, or returns whether all work was done.
bool run_batch() {
  static const std::vector<std::function<void()>> work(TASKS, [] { ++done; });
  done = 0;
  run_all(work, THREADS);
  return done == TASKS;
}

bool run_ordered() {
  Sum total;
  run_in_order(
      TASKS, THREADS, total, [] { return 0; },
      [](std::size_t, int &, Sum &sum) { ++sum.value; }, [](const Sum &) { return true; },
      [] {});
  return total.value == TASKS;
}

// Lets each allocation fail in turn: first alone, then together with all allocations after it.
bool survives(const char *name, bool (*run)(), bool may_throw) {
  for (const bool forever : {false, true})
    for (long long allowed = 0; allowed < 100; ++allowed) {
      failed = false;
      stays_out = forever;
      until_failure = allowed;
      counting = true;
      bool is_done = false;
      try {
        is_done = run();
      } catch (const std::bad_alloc &) {
        is_done = may_throw;
      }
      counting = false;
      if (!is_done) {
        std::printf("%s: some work was not done; the failure came after %lld allocations\n",
                    name, allowed);
        return false;
      }
    }
  return true;
}

} // namespace

int main() {
#if defined(PRETOK_SANITIZED)
  // The counter of allocations is not safe for several threads.
  std::printf("skipped\n");
  return 0;
#endif
  run_batch();
  const bool passed =
      survives("run_all", run_batch, false) && survives("run_in_order", run_ordered, true);
  std::printf(passed ? "2 passed, 0 failed\n" : "failed\n");
  return passed ? 0 : 1;
}
