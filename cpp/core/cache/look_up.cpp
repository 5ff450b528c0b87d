#include "core/cache/look_up.hpp"

namespace pretok {

void look_up([[maybe_unused]] InstructionSet instructions, const PreTokenBatch &batch,
             const ShortCache &cache, CacheProbe &probe) {
#if PRETOK_X86_KERNELS
  if (instructions == InstructionSet::AVX512)
    return look_up_avx512(batch, cache, probe);
  if (instructions == InstructionSet::AVX2)
    return look_up_avx2(batch, cache, probe);
#endif
#if PRETOK_NEON_KERNELS
  if (instructions == InstructionSet::NEON)
    return look_up_neon(batch, cache, probe);
#endif
  probe.miss_count = 0;
  probe.make_keys(batch, 0, cache);
  probe.look(batch, 0, cache);
  probe.list_misses(batch, 0);
}

} // namespace pretok
