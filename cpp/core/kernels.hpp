// The parts of splitting that have one implementation per instruction set.
#pragma once

#include "class_table.hpp"
#include "relations.hpp"
#include "stretch.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

struct PreTokens;
struct LookUp;
class ShortCache;

// Every set of kernels gives the same results; texts are read from their first unit on, which
// starts a code point.
struct Kernels {
  const char *name;

  // Reads as much of a text into a stretch as it takes.
  void (*read_utf8)(const ClassTable &, const std::uint8_t *, std::size_t, Stretch &);
  void (*read_8)(const ClassTable &, const std::uint8_t *, std::size_t, Stretch &);
  void (*read_16)(const ClassTable &, const std::uint16_t *, std::size_t, Stretch &);
  void (*read_32)(const ClassTable &, const std::uint32_t *, std::size_t, Stretch &);

  // Tells each relation for the first `blocks` blocks; classes[-1] is read too.
  void (*relate)(const Relations &, const std::uint8_t *classes, std::size_t blocks,
                 Masks &masks);

  // Finds where labels of so many bits change, for `blocks` blocks behind `edge`.
  void (*combine)(const Masks &masks, std::size_t blocks, unsigned label_bits, Edge &edge,
                  Bounds &bounds);

  // Writes the positions of the bits of `words`, of which there are `count`, to `ends`, which
  // has room for Stretch::SLACK more: base + bit, or base + offsets[bit]. Returns how many.
  std::size_t (*list)(const std::uint64_t *words, std::size_t count, std::size_t base,
                      const std::uint16_t *offsets, std::size_t *ends);
  std::size_t (*count)(const std::uint64_t *words, std::size_t count);

  // Writes the code points of UTF-8, which ends at `end`, to `to`, 64 bytes at a time, and
  // moves both: until `stop` is reached, and one further than that at most, or bytes come that
  // are not well-formed, or of a code point beyond 16 bits. nullptr: nothing is faster than one
  // by one.
  void (*widen)(const std::uint8_t *&at, const std::uint8_t *stop, const std::uint8_t *end,
                std::uint16_t *&to);

  // look_up.hpp
  void (*look_up)(const PreTokens &given, const ShortCache &cache, LookUp &found);
};

// The kernels in use: the best that the processor has, unless tests chose others.
const Kernels &kernels();

// All that the processor can run, the best first; plain C++ is the last.
const std::vector<const Kernels *> &all_kernels();

// Makes kernels() return those of this name, for tests; returns whether there are any.
bool use_kernels(std::string_view name);

// Plain C++, for every processor; the others read with these what they do not read themselves.
// They are the only ones with PRETOK_PLAIN_KERNELS.
extern const Kernels PLAIN_KERNELS;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(PRETOK_PLAIN_KERNELS)
#define PRETOK_X86_KERNELS 1
extern const Kernels AVX2_KERNELS;
extern const Kernels AVX512_KERNELS;
#endif
#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN) &&               \
    !defined(PRETOK_PLAIN_KERNELS)
#define PRETOK_NEON_KERNELS 1
extern const Kernels NEON_KERNELS;
#endif

} // namespace pretok
