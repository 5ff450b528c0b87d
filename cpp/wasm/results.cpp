#include "wasm/results.hpp"

namespace pretok {

std::vector<std::uint32_t> results[MAX_RESULTS];

} // namespace pretok

using namespace pretok;

// Returns a pointer to the numbers of a result. `index` must be less than MAX_RESULTS.
PRETOK_WASM(pretok_wasm_result)
const std::uint32_t *pretok_wasm_result(std::size_t index) { return results[index].data(); }

// Returns the count of numbers of a result.
PRETOK_WASM(pretok_wasm_result_size)
std::size_t pretok_wasm_result_size(std::size_t index) { return results[index].size(); }

// Frees the memory of all results.
PRETOK_WASM(pretok_wasm_clear)
void pretok_wasm_clear() {
  for (std::vector<std::uint32_t> &result : results)
    std::vector<std::uint32_t>().swap(result);
}
