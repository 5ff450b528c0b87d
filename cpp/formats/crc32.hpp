// The CRC-32 of zlib, gzip and PNG.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

std::uint32_t crc32(const std::uint8_t *data, std::size_t size);

} // namespace pretok
