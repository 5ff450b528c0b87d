// Lets each allocation of a call fail in turn.
#pragma once

#include "tests/failing_memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

int failures = 0;

void check(bool condition, const char *file, const char *what, int line) {
  if (condition)
    return;
  counting = false;
  std::printf("%s:%d: %s (after %lld allocations)\n", file, line, what, allocations);
  if (++failures > 20)
    std::exit(1);
}
#define CHECK(condition) check((condition), __FILE__, #condition, __LINE__)

// Runs `work` until no allocation fails: in the first run the first allocation fails, in the
// second run the second, and so on. `work` returns whether it succeeded, and frees its memory.
// Prints the number of allocations.
void run_out(const char *what, const std::function<bool()> &work) {
  for (long long allowed = 0;; ++allowed) {
    allocations = live = 0;
    failed = false;
    until_failure = allowed;
    counting = true;
    const bool ok = work();
    counting = false;
    if (!failed) {
      CHECK(ok);
      std::printf("%s: %lld allocations\n", what, allocations);
      return;
    }
    if (allowed > 200000) {
      CHECK(!"an allocation fails in every run");
      return;
    }
  }
}

} // namespace
