// The results of a call: arrays of 32-bit numbers, which JavaScript copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Exports a function from the module under its own name.
#define PRETOK_WASM(name) extern "C" __attribute__((export_name(#name)))

namespace pretok {

// Each call replaces the results of the previous call. pretok_wasm_clear frees the results.
inline constexpr std::size_t MAX_RESULTS = 3;
extern std::vector<std::uint32_t> results[MAX_RESULTS];

} // namespace pretok
