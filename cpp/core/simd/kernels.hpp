// The parts of splitting that have one implementation per instruction set.
#pragma once

#include "core/base/instruction_set.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/split/fast/relations.hpp"
#include "core/unicode/class_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

// Every set of kernels gives the same results. The first unit of a text starts a code point.
struct Kernels {
  const char *name;
  InstructionSet instruction_set;

  // Fill the buffer with the classes of a text, as many as fit.
  void (*read_utf8)(const ClassTable &, const std::uint8_t *, std::size_t, ClassBuffer &);
  void (*read_8)(const ClassTable &, const std::uint8_t *, std::size_t, ClassBuffer &);
  void (*read_16)(const ClassTable &, const std::uint16_t *, std::size_t, ClassBuffer &);
  void (*read_32)(const ClassTable &, const std::uint32_t *, std::size_t, ClassBuffer &);

  // Finds each relation between neighbors in the first `blocks` blocks. Reads classes[-1] too.
  void (*classify_pairs)(const Relations &, const std::uint8_t *classes, std::size_t blocks,
                         RelationBits &relation_bits);

  // Finds the boundaries where labels of `label_bits` bits change, in `blocks` blocks.
  void (*resolve_labels)(const RelationBits &relation_bits, std::size_t blocks,
                         unsigned label_bits, Carry &carry, BoundaryBits &boundaries);

  // Writes the position of each bit of `count` words to `ends`, and returns how many. A
  // position is base + bit, or base + offsets[bit] if there are offsets. `ends` needs room for
  // ClassBuffer::PADDING more.
  std::size_t (*bits_to_positions)(const std::uint64_t *words, std::size_t count,
                                   std::size_t base, const std::uint16_t *offsets,
                                   std::size_t *ends);
  std::size_t (*count_bits)(const std::uint64_t *words, std::size_t count);
};

// Returns the kernels in use: the fastest that the processor can run, unless a test chose.
const Kernels &kernels();

// Returns every set that the processor can run, the fastest first. Plain C++ is the last.
const std::vector<const Kernels *> &all_kernels();

// Makes kernels() return the set of this name, for tests. Returns false if there is none.
bool use_kernels(std::string_view name);

// Plain C++, for every processor.
extern const Kernels PLAIN_KERNELS;
#if PRETOK_X86_KERNELS
extern const Kernels AVX2_KERNELS;
extern const Kernels AVX512_KERNELS;
#endif
#if PRETOK_NEON_KERNELS
extern const Kernels NEON_KERNELS;
#endif

} // namespace pretok
