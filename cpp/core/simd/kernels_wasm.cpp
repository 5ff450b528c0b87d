// Kernels for the vectors of WebAssembly, in a build with -msimd128.
#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/simd/kernels_plain.hpp"

#if PRETOK_WASM_KERNELS
#include <wasm_simd128.h>

#define PRETOK_TARGET

namespace pretok {
namespace wasm {
namespace {

using Vector = v128_t;
constexpr std::size_t WIDTH = sizeof(Vector);

inline Vector load(const void *from) { return wasm_v128_load(from); }
inline void store(std::uint8_t *to, Vector bytes) { wasm_v128_store(to, bytes); }
inline Vector both(Vector a, Vector b) { return wasm_v128_and(a, b); }

// A table of 16 * `parts` bytes.
template <std::size_t parts> struct Table {
  explicit Table(const std::uint8_t *bytes) {
    for (std::size_t i = 0; i < parts; ++i)
      part[i] = load(bytes + 16 * i);
  }
  Vector part[parts];
};
// An index beyond the table gives 0. Each part gives 0 for the indices of the other parts:
// after the subtraction they are 16 or more, or wrap to large values, and wasm_i8x16_swizzle
// returns 0 for these.
template <std::size_t parts> inline Vector look_up(const Table<parts> &table, Vector index) {
  Vector result = wasm_i8x16_swizzle(table.part[0], index);
  for (std::size_t i = 1; i < parts; ++i) {
    index = wasm_i8x16_sub(index, wasm_i8x16_splat(16));
    result = wasm_v128_or(result, wasm_i8x16_swizzle(table.part[i], index));
  }
  return result;
}

// The classes of ASCII.
using AsciiTable = Table<8>;
inline AsciiTable ascii_table(const std::uint8_t *classes) { return AsciiTable(classes); }

// One row or column of a Relations::Plane: a byte for each of 32 classes.
using PairTable = Table<2>;
inline PairTable pair_table(const std::uint8_t *bytes) { return PairTable(bytes); }

// Returns whether `units` and `beyond` have no set bit in common.
inline bool has_none(Vector units, Vector beyond) {
  return !wasm_v128_any_true(wasm_v128_and(units, beyond));
}

// Loads WIDTH code units as bytes. If any code unit is not ASCII, the bytes are meaningless.
inline Vector narrow(const std::uint8_t *data, bool &is_ascii) {
  const Vector bytes = load(data);
  is_ascii = wasm_i8x16_bitmask(bytes) == 0;
  return bytes;
}
inline Vector narrow(const std::uint16_t *data, bool &is_ascii) {
  const Vector low = load(data);
  const Vector high = load(data + 8);
  is_ascii = has_none(wasm_v128_or(low, high), wasm_u16x8_splat(0xFF80));
  return wasm_u8x16_narrow_i16x8(low, high);
}
inline Vector narrow(const std::uint32_t *data, bool &is_ascii) {
  const Vector a = load(data);
  const Vector b = load(data + 4);
  const Vector c = load(data + 8);
  const Vector d = load(data + 12);
  is_ascii = has_none(wasm_v128_or(wasm_v128_or(a, b), wasm_v128_or(c, d)),
                      wasm_u32x4_splat(0xFFFFFF80));
  return wasm_u8x16_narrow_i16x8(wasm_u16x8_narrow_i32x4(a, b), wasm_u16x8_narrow_i32x4(c, d));
}

// Returns a mask of 64 bits: bit i is set if bytes[i] has any of the wanted bits. `bits` is
// the byte of wanted bits, repeated four times.
inline std::uint64_t any_of(const std::uint8_t *bytes, std::uint32_t bits) {
  const Vector wanted = wasm_u32x4_splat(bits);
  const Vector zero = wasm_u8x16_splat(0);
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < 64; i += 16) {
    const Vector found = both(load(bytes + i), wanted);
    mask |= std::uint64_t{static_cast<std::uint32_t>(
                wasm_i8x16_bitmask(wasm_i8x16_ne(found, zero)))}
            << i;
  }
  return mask;
}

// One instruction: there is no branch.
inline unsigned first_bit(std::uint64_t word) { return word == 0 ? 64 : lowest_bit(word); }

#include "core/simd/generic_count.inc"
// Reads the parts of a text that have code points beyond ASCII, in plain C++.
constexpr auto *append_mixed = append_utf8;

#include "core/simd/generic_code_points.inc"
#include "core/simd/generic_pairs.inc"
#include "core/simd/generic_positions.inc"
#include "core/simd/generic_text.inc"

} // namespace
} // namespace wasm

const Kernels WASM_KERNELS = {"wasm",
                              InstructionSet::WASM,
                              wasm::read_utf8,
                              wasm::read_code_points<std::uint8_t>,
                              wasm::read_code_points<std::uint16_t>,
                              wasm::read_code_points<std::uint32_t>,
                              wasm::classify_pairs,
                              plain_resolve_labels,
                              wasm::bits_to_positions,
                              wasm::count_bits,
                              write_utf8_plain<std::uint8_t>,
                              write_utf8_plain<std::uint16_t>,
                              write_utf8_plain<std::uint32_t>,
                              nullptr,
                              nullptr};

} // namespace pretok
#undef PRETOK_TARGET
#endif
