// The vector instruction sets for which the library has separate code.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PRETOK_PLAIN_KERNELS)
#define PRETOK_X86_KERNELS 1
#endif
#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN) &&               \
    !defined(PRETOK_PLAIN_KERNELS)
#define PRETOK_NEON_KERNELS 1
#endif
#if defined(__wasm_simd128__) && !defined(PRETOK_PLAIN_KERNELS)
#define PRETOK_WASM_KERNELS 1
#endif

namespace pretok {

// PLAIN is C++ for every processor. If PRETOK_PLAIN_KERNELS is defined, PLAIN is the only set
// in the build.
enum class InstructionSet { PLAIN, NEON, WASM, AVX2, AVX512 };

} // namespace pretok
