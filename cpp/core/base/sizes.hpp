// Saturating arithmetic on sizes.
//
// std::size_t has 32 bits on some processors. If a size wrapped around, a buffer would be too
// small, or a growing window would become 0 and never reach the end of the text.
#pragma once

#include <cstddef>
#include <limits>

namespace pretok {

// Returns a + b, or the maximum of the type if the sum overflows.
template <typename Size> constexpr Size saturating_add(Size a, Size b) {
  constexpr Size MAX_SIZE = std::numeric_limits<Size>::max();
  return b > MAX_SIZE - a ? MAX_SIZE : static_cast<Size>(a + b);
}

// Returns a * b, or the maximum of the type if the product overflows.
template <typename Size> constexpr Size saturating_multiply(Size a, Size b) {
  constexpr Size MAX_SIZE = std::numeric_limits<Size>::max();
  return b != 0 && a > MAX_SIZE / b ? MAX_SIZE : static_cast<Size>(a * b);
}

// The maximum number of values of type T whose size in bytes a std::size_t can hold.
template <typename T>
inline constexpr std::size_t MAX_ELEMENTS = std::numeric_limits<std::size_t>::max() / sizeof(T);

// The maximum number of values of type T in one allocation. The difference of two pointers into
// an allocation of this size does not overflow.
template <typename T>
inline constexpr std::size_t MAX_VALUES =
    std::numeric_limits<std::size_t>::max() / 2 / sizeof(T);

} // namespace pretok
