#include "core/simd/kernels.hpp"

#include <atomic>

namespace pretok {
namespace {

// Returns the sets of kernels that the processor can run, the fastest first.
std::vector<const Kernels *> supported_kernels() {
  std::vector<const Kernels *> sets;
#if PRETOK_X86_KERNELS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512vbmi2"))
    sets.push_back(&AVX512_KERNELS);
  if (avx2)
    sets.push_back(&AVX2_KERNELS);
#endif
#if PRETOK_NEON_KERNELS
  sets.push_back(&NEON_KERNELS);
#endif
#if PRETOK_WASM_KERNELS
  sets.push_back(&WASM_KERNELS);
#endif
  sets.push_back(&PLAIN_KERNELS);
  return sets;
}

std::atomic<const Kernels *> current_kernels{nullptr};

} // namespace

const std::vector<const Kernels *> &all_kernels() {
  static const std::vector<const Kernels *> all = supported_kernels();
  return all;
}

const Kernels &kernels() {
  const Kernels *best = current_kernels.load(std::memory_order_acquire);
  if (best == nullptr) {
    best = all_kernels().front();
    current_kernels.store(best, std::memory_order_release);
  }
  return *best;
}

bool use_kernels(std::string_view name) {
  for (const Kernels *set : all_kernels())
    if (set->name == name) {
      current_kernels.store(set, std::memory_order_release);
      return true;
    }
  return false;
}

} // namespace pretok
