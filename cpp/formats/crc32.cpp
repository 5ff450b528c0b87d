#include "formats/crc32.hpp"

#include <array>

namespace pretok {
namespace {

// rows[n][byte] is the effect of a byte on the sum if n more bytes follow this byte.
struct CrcTables {
  static constexpr std::size_t ROWS = 8;
  std::array<std::array<std::uint32_t, 256>, ROWS> rows{};
};

CrcTables make_crc_tables() {
  CrcTables tables;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit)
      sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320U : 0);
    tables.rows[0][byte] = sum;
  }
  for (std::size_t row = 1; row < CrcTables::ROWS; ++row)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t sum = tables.rows[row - 1][byte];
      tables.rows[row][byte] = sum >> 8 ^ tables.rows[0][sum & 0xFF];
    }
  return tables;
}

} // namespace

// The algorithm "slicing-by-8": each step takes eight bytes.
std::uint32_t crc32(const std::uint8_t *data, std::size_t size) {
  static const CrcTables tables = make_crc_tables();
  const std::uint8_t *const end = data + size;
  std::uint32_t sum = 0xFFFFFFFF;
  for (; end - data >= 8; data += 8) {
    const std::uint32_t low =
        sum ^ (std::uint32_t{data[0]} | std::uint32_t{data[1]} << 8 |
               std::uint32_t{data[2]} << 16 | std::uint32_t{data[3]} << 24);
    sum = tables.rows[7][low & 0xFF] ^ tables.rows[6][low >> 8 & 0xFF] ^
          tables.rows[5][low >> 16 & 0xFF] ^ tables.rows[4][low >> 24] ^
          tables.rows[3][data[4]] ^ tables.rows[2][data[5]] ^ tables.rows[1][data[6]] ^
          tables.rows[0][data[7]];
  }
  for (; data != end; ++data)
    sum = sum >> 8 ^ tables.rows[0][(sum ^ *data) & 0xFF];
  return ~sum;
}

} // namespace pretok
