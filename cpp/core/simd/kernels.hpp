// The functions that have one implementation per instruction set.
#pragma once

#include "core/base/ascii_pairs.hpp"
#include "core/base/instruction_set.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/split/fast/relations.hpp"
#include "core/unicode/class_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

// One set of kernels. All sets give equal results. The first code unit of a text must start a
// code point.
struct Kernels {
  const char *name;
  InstructionSet instruction_set;

  // Fill the buffer with the classes of the first code points of a text, as many as fit. The
  // second and the third argument are the text and its size in code units. The number in the
  // name is the size of a code unit in bits. In read_8, read_16 and read_32 each code unit is a
  // code point.
  void (*read_utf8)(const ClassTable &, const std::uint8_t *, std::size_t, ClassBuffer &);
  void (*read_8)(const ClassTable &, const std::uint8_t *, std::size_t, ClassBuffer &);
  void (*read_16)(const ClassTable &, const std::uint16_t *, std::size_t, ClassBuffer &);
  void (*read_32)(const ClassTable &, const std::uint32_t *, std::size_t, ClassBuffer &);

  // Finds all relations between neighbors (relations.hpp) in the first `blocks` blocks of 64
  // code points. Also reads classes[-1], the class of the code point before the first.
  void (*classify_pairs)(const Relations &, const std::uint8_t *classes, std::size_t blocks,
                         RelationBits &relation_bits);

  // Fills the words of `boundaries` (class_buffer.hpp) for `blocks` blocks:
  //   certain     the BOUNDARY pairs;
  //   all         these pairs, the CONDITIONAL pairs, and most pairs at which the label
  //               changes;
  //   unresolved  the UNRESOLVED pairs, and the other pairs at which the label changes;
  //   changed     all pairs at which the label changes.
  // Later, Splitter applies the rules from the boundary before an unresolved pair to the next
  // certain boundary. The result replaces the other boundaries between these two, such as those
  // at CONDITIONAL pairs.
  // A label is a number of `label_bits` bits that a pair has (relations.hpp). The label changes
  // at a pair if the label of the pair differs from the label of the pair before it. To compare
  // a pair with the pair before it, a kernel shifts words by one bit. The bit shifted in is the
  // highest bit of the previous word. `carry` passes the last words of one call to the next
  // call.
  void (*resolve_labels)(const RelationBits &relation_bits, std::size_t blocks,
                         unsigned label_bits, Carry &carry, BoundaryBits &boundaries);

  // Writes the position of each 1 bit of `count` words to `ends`, and returns the number of
  // positions. The position of bit i, counted through all words, is base + i, or base +
  // offsets[i] if `offsets` is not null. `ends` needs room for ClassBuffer::PADDING more
  // positions.
  std::size_t (*bits_to_positions)(const std::uint64_t *words, std::size_t count,
                                   std::size_t base, const std::uint16_t *offsets,
                                   std::size_t *ends);
  // Returns the number of 1 bits in `count` words.
  std::size_t (*count_bits)(const std::uint64_t *words, std::size_t count);

  // Like write_utf8 (core/utf/write_utf8.hpp).
  std::uint8_t *(*write_utf8_of_8)(const std::uint8_t *, std::size_t, std::uint8_t *to);
  std::uint8_t *(*write_utf8_of_16)(const std::uint16_t *, std::size_t, std::uint8_t *to);
  std::uint8_t *(*write_utf8_of_32)(const std::uint32_t *, std::size_t, std::uint8_t *to);

  // The kernels below are nullptr in sets in which they would be no faster than other code.

  // Decodes blocks of 64 bytes of UTF-8 from `at` on, and writes the code points to `to` as
  // 16-bit units. Advances `at` and `to`. There must be room for 64 units per block. A sequence
  // that begins in a block belongs to this block. The text ends at `end`. Stops in three cases:
  //   - `at` has reached or passed `stop`;
  //   - fewer than 64 bytes remain before `end`;
  //   - the next block has an ill-formed sequence or a code point above U+FFFF.
  void (*widen)(const std::uint8_t *&at, const std::uint8_t *stop, const std::uint8_t *end,
                std::uint16_t *&to);
  // Looks up each of `size` bytes and the byte before it in a set of pairs. Also reads
  // bytes[-1]. Bit i of `absent` says whether both bytes of pair i are ASCII and the set lacks
  // the pair. Bit i of `beyond` says whether bytes[i] is not ASCII. Fills whole words of 64
  // bits; bits from `size` on are 0. Returns the number of 1 bits of `beyond`.
  std::size_t (*find_absent_pairs)(const AsciiPairs &pairs, const std::uint8_t *bytes,
                                   std::size_t size, std::uint64_t *absent,
                                   std::uint64_t *beyond);
};

// Returns the kernels in use: the set that use_kernels() has chosen, or else the fastest set
// that the processor can run.
const Kernels &kernels();

// Returns every set that the processor can run, the fastest first, plain C++ last.
const std::vector<const Kernels *> &all_kernels();

// Makes kernels() return the set with this name, for tests. Returns false if there is no such
// set, or if the processor cannot run it.
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
#if PRETOK_WASM_KERNELS
extern const Kernels WASM_KERNELS;
#endif

} // namespace pretok
