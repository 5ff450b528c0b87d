// Token ids.
#pragma once

#include <cstdint>

namespace pretok {

// Stands for "no token".
inline constexpr std::uint32_t NO_ID = 0xFFFFFFFF;

// Every id is below this limit. It bounds the memory of tables that have an entry for each id,
// used or not, up to the largest.
inline constexpr std::uint32_t ID_LIMIT = 1 << 24;

} // namespace pretok
