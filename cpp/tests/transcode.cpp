// Tests write_utf8 with every instruction set of the processor against write_utf8_plain, and
// is_ascii.
#include "core/simd/kernels.hpp"
#include "core/unicode/utf8.hpp"
#include "core/utf/write_utf8.hpp"

#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace pretok;

std::mt19937 source(20261124);

std::size_t below(std::size_t limit) { return source() % limit; }

// Returns a random code unit of one of the lengths in UTF-8, or half of a surrogate pair.
template <typename Unit> Unit random_unit() {
  static const std::uint32_t LIMITS[] = {0x80, 0x800, 0xD800, 0x110000};
  const std::size_t kind = below(6);
  std::uint32_t unit = kind == 4   ? 0xD800 + below(0x800)
                       : kind == 5 ? LIMITS[below(4)] - below(2)
                                   : below(LIMITS[kind]);
  if (sizeof(Unit) < 4)
    unit &= (1U << 8 * sizeof(Unit)) - 1;
  return static_cast<Unit>(unit < 0x110000 ? unit : 0x10FFFF);
}

// Runs of ASCII between runs of other code units: the writers change between their loops.
template <typename Unit> std::vector<Unit> random_units(std::size_t size) {
  std::vector<Unit> units;
  while (units.size() < size) {
    const bool is_ascii = below(2) == 0;
    for (std::size_t left = 1 + below(below(2) == 0 ? 4 : 80); left-- != 0;)
      units.push_back(is_ascii ? static_cast<Unit>(below(0x80)) : random_unit<Unit>());
  }
  units.resize(size);
  return units;
}

// Returns the UTF-8 that `write` writes for the units. Sets `is_kept` to whether the bytes
// after the room for the UTF-8 are unchanged.
template <typename Unit, typename Write>
std::vector<std::uint8_t> written(const std::vector<Unit> &units, Write write, bool &is_kept) {
  constexpr std::uint8_t GUARD = 0xA5;
  const std::size_t room = units.size() * MAX_UTF8<Unit>;
  std::vector<std::uint8_t> bytes(room + 64, GUARD);
  const std::uint8_t *const end = write(units.data(), units.size(), bytes.data());
  is_kept = true;
  for (std::size_t i = room; i < bytes.size(); ++i)
    is_kept = is_kept && bytes[i] == GUARD;
  bytes.resize(static_cast<std::size_t>(end - bytes.data()));
  return bytes;
}

template <typename Unit> bool is_same(const char *kernels) {
  for (int round = 0; round < 20000; ++round) {
    const std::vector<Unit> units = random_units<Unit>(below(below(2) == 0 ? 40 : 400));
    bool is_kept = false;
    const auto expected = written(units, write_utf8_plain<Unit>, is_kept);
    const auto write = [](const Unit *from, std::size_t size, std::uint8_t *to) {
      return write_utf8(from, size, to);
    };
    if (written(units, write, is_kept) == expected && is_kept)
      continue;
    std::printf("%s: %zu code units of %zu bytes: %s\n", kernels, units.size(), sizeof(Unit),
                is_kept ? "other UTF-8" : "a write after the room for the UTF-8");
    return false;
  }
  return true;
}

// Checks texts of all sizes around the steps of is_ascii, with no or one other byte.
bool finds_other_bytes() {
  for (std::size_t size = 0; size < 40; ++size) {
    std::vector<std::uint8_t> text(size, 0x7F);
    text.push_back(0x80); // after the end
    if (!is_ascii(text.data(), size))
      return false;
    for (std::size_t at = 0; at < size; ++at) {
      text[at] = 0x80;
      if (is_ascii(text.data(), size))
        return false;
      text[at] = 0x7F;
    }
  }
  return true;
}

} // namespace

int main() {
  if (!finds_other_bytes()) {
    std::printf("is_ascii failed\n");
    return 1;
  }
  for (const Kernels *set : all_kernels()) {
    use_kernels(set->name);
    if (!is_same<std::uint8_t>(set->name) || !is_same<std::uint16_t>(set->name) ||
        !is_same<std::uint32_t>(set->name))
      return 1;
    std::printf("%s: 60,000 texts\n", set->name);
  }
  return 0;
}
