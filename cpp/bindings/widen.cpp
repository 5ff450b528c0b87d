#include "bindings/widen.hpp"

namespace pretok {

Widen widen_with([[maybe_unused]] InstructionSet instructions) {
#if PRETOK_X86_KERNELS
  if (instructions == InstructionSet::AVX512)
    return widen_avx512;
#endif
  return nullptr;
}

} // namespace pretok
