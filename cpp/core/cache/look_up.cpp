#include "core/cache/look_up.hpp"

namespace pretok {

void look_up([[maybe_unused]] InstructionSet instructions, const PreTokens &given,
             const ShortCache &cache, LookUp &found) {
#if PRETOK_X86_KERNELS
  if (instructions == InstructionSet::AVX512)
    return look_up_avx512(given, cache, found);
#endif
  found.other_count = 0;
  found.make_keys(given, 0, cache);
  found.look(given, 0, cache);
  found.list_others(given, 0);
}

} // namespace pretok
