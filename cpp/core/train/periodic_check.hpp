// Interrupts long work.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/train/trainer_memory.hpp"

#include <cstddef>

namespace pretok {

// Calls check_interrupt and TrainerMemory::trim after every WORK_PER_CHECK units of work:
// slots, places and heap entries.
class PeriodicCheck {
public:
  // The work of reading a list of places, which may bring many pages of a file to memory.
  static constexpr std::size_t LIST = 64;

  // `memory` must outlive this object.
  PeriodicCheck(FunctionRef<void()> check_interrupt, const TrainerMemory &memory)
      : check_interrupt_(check_interrupt), memory_(&memory) {}
  void operator()(std::size_t work = 1) {
    done_ += memory_->holds_words ? work * MOVED : work;
    if (done_ < WORK_PER_CHECK)
      return;
    done_ = 0;
    check_interrupt_();
    if (memory_->trim)
      is_short_ = memory_->trim(memory_->holds_words);
  }
  // Returns whether ordinary memory took too much at the last check.
  bool is_short() const { return is_short_; }

private:
  // The work of reading a place of a word in a file.
  static constexpr std::size_t MOVED = 16;
  static constexpr std::size_t WORK_PER_CHECK = 16'384;
  FunctionRef<void()> check_interrupt_;
  const TrainerMemory *memory_;
  std::size_t done_ = 0;
  bool is_short_ = false;
};

} // namespace pretok
