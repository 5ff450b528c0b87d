// Arrays of 32-bit numbers that a call returns to JavaScript.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Exports a function from the module under its own name.
#define PRETOK_WASM(name) extern "C" __attribute__((export_name(#name)))

namespace pretok {

// A call replaces the arrays of the call before it. pretok_wasm_clear frees them.
inline constexpr std::size_t MAX_RESULTS = 3;
extern std::vector<std::uint32_t> results[MAX_RESULTS];

} // namespace pretok
