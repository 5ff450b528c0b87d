// Ids of tokens.
#pragma once

#include <cstdint>

namespace pretok {

// Stands for no token.
inline constexpr std::uint32_t NO_ID = 0xFFFFFFFF;

// Ids are below this: tables have room for each id up to the largest.
inline constexpr std::uint32_t ID_LIMIT = 1 << 24;

} // namespace pretok
