// Computes the CRC-32 that zlib, gzip and PNG use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

std::uint32_t crc32(const std::uint8_t *data, std::size_t size);

} // namespace pretok
