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

// Every set of kernels gives the same results; texts are read from their first unit on, which
// starts a code point.
struct Kernels {
  const char *name;
  InstructionSet instruction_set;

  // Reads as much of a text into a stretch as it takes.
  void (*read_utf8)(const ClassTable &, const std::uint8_t *, std::size_t, ClassBuffer &);
  void (*read_8)(const ClassTable &, const std::uint8_t *, std::size_t, ClassBuffer &);
  void (*read_16)(const ClassTable &, const std::uint16_t *, std::size_t, ClassBuffer &);
  void (*read_32)(const ClassTable &, const std::uint32_t *, std::size_t, ClassBuffer &);

  // Tells each relation for the first `blocks` blocks; classes[-1] is read too.
  void (*classify_pairs)(const Relations &, const std::uint8_t *classes, std::size_t blocks,
                         RelationBits &relation_bits);

  // Finds where labels of so many bits change, for `blocks` blocks behind `edge`.
  void (*resolve_labels)(const RelationBits &relation_bits, std::size_t blocks,
                         unsigned label_bits, Carry &carry, BoundaryBits &boundaries);

  // Writes the positions of the bits of `words`, of which there are `count`, to `ends`, which
  // has room for ClassBuffer::PADDING more: base + bit, or base + offsets[bit]. Returns how
  // many.
  std::size_t (*bits_to_positions)(const std::uint64_t *words, std::size_t count,
                                   std::size_t base, const std::uint16_t *offsets,
                                   std::size_t *ends);
  std::size_t (*count_bits)(const std::uint64_t *words, std::size_t count);
};

// The kernels in use: the best that the processor has, unless tests chose others.
const Kernels &kernels();

// All that the processor can run, the best first; plain C++ is the last.
const std::vector<const Kernels *> &all_kernels();

// Makes kernels() return those of this name, for tests; returns whether there are any.
bool use_kernels(std::string_view name);

// Plain C++, for every processor; the others read with these what they do not read themselves.
extern const Kernels PLAIN_KERNELS;
#if PRETOK_X86_KERNELS
extern const Kernels AVX2_KERNELS;
extern const Kernels AVX512_KERNELS;
#endif
#if PRETOK_NEON_KERNELS
extern const Kernels NEON_KERNELS;
#endif

} // namespace pretok
