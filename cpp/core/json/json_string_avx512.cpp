// copy_json_avx512: 64 bytes at a time.
#include "core/json/json_string.hpp"

#include "core/base/avx512.hpp"

#if PRETOK_X86_KERNELS
#include <array>

namespace pretok {
namespace {

constexpr std::size_t WIDTH = 64;
static_assert(WIDTH <= JSON_COPY_ROOM);

// Returns the byte that an escape of one letter stands for, by the letter, and 0 for others.
constexpr std::array<std::uint8_t, 128> escaped_bytes() {
  std::array<std::uint8_t, 128> bytes{};
  bytes['"'] = '"';
  bytes['\\'] = '\\';
  bytes['/'] = '/';
  bytes['b'] = '\b';
  bytes['f'] = '\f';
  bytes['n'] = '\n';
  bytes['r'] = '\r';
  bytes['t'] = '\t';
  return bytes;
}
alignas(WIDTH) constexpr std::array<std::uint8_t, 128> ESCAPED = escaped_bytes();

// Returns a mask of the bytes that are escaped by the backslash before them. The byte before
// the first one is not a backslash of an escape.
std::uint64_t after_backslashes(std::uint64_t backslashes) {
  // In a run of backslashes, every second one is escaped by the one before it. The sum carries
  // a bit from each run that begins at an odd index to the byte after the run. It swaps the
  // even and the odd indexes of these runs.
  constexpr std::uint64_t EVEN = 0x5555555555555555;
  const std::uint64_t followers = backslashes << 1;
  const std::uint64_t odd_starts = backslashes & ~EVEN & ~followers;
  return (EVEN ^ (odd_starts + backslashes) << 1) & followers;
}

} // namespace

PRETOK_AVX512 JsonCopy copy_json_avx512(JsonCopy copy, const std::uint8_t *end) {
  const __m512i low = _mm512_load_si512(ESCAPED.data());
  const __m512i high = _mm512_load_si512(ESCAPED.data() + WIDTH);
  while (static_cast<std::size_t>(end - copy.from) >= WIDTH) {
    const __m512i bytes = _mm512_loadu_si512(copy.from);
    const std::uint64_t backslashes = avx512::equal(bytes, '\\');
    std::uint64_t stops = avx512::equal(bytes, '"') | avx512::less(bytes, 0x20);
    if ((backslashes | stops) == 0) {
      _mm512_storeu_si512(copy.to, bytes);
      copy.from += WIDTH;
      copy.to += WIDTH;
      continue;
    }
    const std::uint64_t escaped = after_backslashes(backslashes);
    const std::uint64_t starts = backslashes & ~escaped;
    // The index has 7 bits, so bytes above 0x7F must be excluded.
    const __m512i meant = _mm512_permutex2var_epi8(low, bytes, high);
    const std::uint64_t simple =
        _mm512_test_epi8_mask(meant, meant) & ~_mm512_movepi8_mask(bytes);
    stops &= ~(escaped & simple);
    // Stop at the backslash of another escape. One at the last byte begins the next block.
    stops |= (escaped & ~simple) >> 1 | (starts & std::uint64_t{1} << 63);
    const std::size_t size = stops == 0 ? WIDTH : _tzcnt_u64(stops);
    const std::uint64_t kept = ~starts & avx512::first_64(size);
    _mm512_storeu_si512(
        copy.to, _mm512_maskz_compress_epi8(kept, _mm512_mask_mov_epi8(bytes, escaped, meant)));
    copy.from += size;
    copy.to += _mm_popcnt_u64(kept);
    if (size < WIDTH - 1)
      break;
  }
  return copy;
}

} // namespace pretok
#endif
