// Interrupts long work.
#pragma once

#include "core/base/function_ref.hpp"

#include <cstddef>

namespace pretok {

// Calls check_interrupt after every WORK_PER_CHECK units of work: slots, places and heap
// entries.
class PeriodicCheck {
public:
  explicit PeriodicCheck(FunctionRef<void()> check_interrupt)
      : check_interrupt_(check_interrupt) {}
  void operator()(std::size_t work = 1) {
    done_ += work;
    if (done_ < WORK_PER_CHECK)
      return;
    done_ = 0;
    check_interrupt_();
  }

private:
  static constexpr std::size_t WORK_PER_CHECK = 50'000;
  FunctionRef<void()> check_interrupt_;
  std::size_t done_ = 0;
};

} // namespace pretok
