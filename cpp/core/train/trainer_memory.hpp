// Memory of a Trainer that may be in a file.
#pragma once

#include <cstddef>
#include <functional>

namespace pretok {

// Gives a Trainer memory for places and for the pairs that wait, most of which it reads rarely.
// If the functions are empty, it takes ordinary memory.
struct TrainerMemory {
  // Returns a block of `size` bytes, which stays where it is as long as the trainer.
  std::function<void *(std::size_t size)> allocate;
  // Is called with memory from `allocate` that is no longer needed.
  std::function<void(void *memory, std::size_t size)> free;
  // Is called after some thousand places. May write changed blocks to the file, and remove
  // blocks from memory until they are read again.
  std::function<void()> trim;
};

} // namespace pretok
