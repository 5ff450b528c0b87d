// A buffer of ids on the stack, for calls for one text.
#pragma once

#include "core/base/id_buffer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// An IdBuffer that needs no heap memory for the ids of a text of up to 4 kB. malloc and free
// would take 5 % of the time of a call.
class StackIds {
private:
  static constexpr std::size_t COUNT = 4096;

  std::array<std::uint32_t, COUNT> ids_; // not initialized

public:
  StackIds() = default;
  StackIds(const StackIds &) = delete;
  StackIds &operator=(const StackIds &) = delete;

  IdBuffer buffer{ids_.data(), COUNT};
};

} // namespace pretok
