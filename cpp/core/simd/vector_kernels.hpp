// Kernels that have files of their own, for the tables of kernels.
#pragma once

#include "core/base/ascii_pairs.hpp"
#include "core/base/instruction_set.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/unicode/class_table.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

#if PRETOK_X86_KERNELS
namespace avx2 {
std::uint8_t *write_utf8(const std::uint8_t *units, std::size_t size, std::uint8_t *to);
std::uint8_t *write_utf8(const std::uint16_t *units, std::size_t size, std::uint8_t *to);
std::uint8_t *write_utf8(const std::uint32_t *units, std::size_t size, std::uint8_t *to);
} // namespace avx2

namespace avx512 {
std::uint8_t *write_utf8(const std::uint8_t *units, std::size_t size, std::uint8_t *to);
std::uint8_t *write_utf8(const std::uint16_t *units, std::size_t size, std::uint8_t *to);
std::uint8_t *write_utf8(const std::uint32_t *units, std::size_t size, std::uint8_t *to);
void widen(const std::uint8_t *&at, const std::uint8_t *stop, const std::uint8_t *end,
           std::uint16_t *&to);
std::size_t find_absent_pairs(const AsciiPairs &pairs, const std::uint8_t *bytes,
                              std::size_t size, std::uint64_t *absent, std::uint64_t *beyond);
} // namespace avx512
#endif

#if PRETOK_NEON_KERNELS
namespace neon {
void read_utf8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
               ClassBuffer &buffer);
} // namespace neon
#endif

} // namespace pretok
