#include "rank_file.hpp"

#include "token_table.hpp"
#include "vocabulary.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pretok {
namespace {

constexpr std::size_t MOST_DIGITS = 9;
constexpr std::uint8_t NO_DIGIT = 64;

constexpr std::array<std::uint8_t, 256> make_values() {
  constexpr char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> values{};
  for (std::size_t i = 0; i < 256; ++i)
    values[i] = NO_DIGIT;
  for (std::uint8_t i = 0; i < NO_DIGIT; ++i)
    values[static_cast<std::uint8_t>(DIGITS[i])] = i;
  return values;
}
constexpr std::array<std::uint8_t, 256> VALUES = make_values();

bool read_lines(const std::uint8_t *at, const std::uint8_t *end, RankFile &file) {
  file.bytes.resize(static_cast<std::size_t>(end - at));
  file.lengths.reserve(static_cast<std::size_t>(end - at) / 16);
  file.ids.reserve(static_cast<std::size_t>(end - at) / 16);
  std::uint8_t *to = file.bytes.data();
  while (at != end) {
    const void *found = std::memchr(at, ' ', static_cast<std::size_t>(end - at));
    if (found == nullptr)
      return false;
    const auto *space = static_cast<const std::uint8_t *>(found);
    const std::size_t size = decode_base64(at, space, to);
    if (size == 0)
      return false;
    std::uint32_t id = 0;
    const std::uint8_t *const digits = space + 1;
    for (at = digits; at != end && *at >= '0' && *at <= '9'; ++at) {
      if (static_cast<std::size_t>(at - digits) == MOST_DIGITS)
        return false;
      id = id * 10 + (*at - std::uint32_t{'0'});
    }
    if (at == digits || id >= ID_LIMIT)
      return false;
    if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
      ++at;
    if (at != end && *at++ != '\n')
      return false;
    to += size;
    file.lengths.push_back(static_cast<std::uint32_t>(size));
    file.ids.push_back(id);
  }
  file.bytes.resize(static_cast<std::size_t>(to - file.bytes.data()));
  return !file.ids.empty();
}

bool ids_differ(const RankFile &file) {
  std::vector<bool> seen(std::size_t{*std::max_element(file.ids.begin(), file.ids.end())} + 1);
  for (const std::uint32_t id : file.ids) {
    if (seen[id])
      return false;
    seen[id] = true;
  }
  return true;
}

bool has_all_bytes(const RankFile &file) {
  // Of tokens that differ.
  return std::count(file.lengths.begin(), file.lengths.end(), 1U) == 256;
}

} // namespace

std::size_t decode_base64(const std::uint8_t *at, const std::uint8_t *end, std::uint8_t *to) {
  if (at == end || (end - at) % 4 != 0)
    return 0;
  const std::uint8_t *const first = to;
  const std::uint8_t *const last = end - 4;
  unsigned wrong = 0;
  const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
  for (; at != last; at += 4, to += 3) {
    const unsigned a = VALUES[at[0]], b = VALUES[at[1]], c = VALUES[at[2]], d = VALUES[at[3]];
    wrong |= a | b | c | d;
    to[0] = byte(a << 2 | b >> 4);
    to[1] = byte(b << 4 | c >> 2);
    to[2] = byte(c << 6 | d);
  }
  const unsigned a = VALUES[at[0]], b = VALUES[at[1]];
  const unsigned c = at[2] == '=' && at[3] == '=' ? 0 : VALUES[at[2]];
  const unsigned d = at[3] == '=' ? 0 : VALUES[at[3]];
  wrong |= a | b | c | d;
  const std::size_t size = at[3] != '=' ? 3 : at[2] != '=' ? 2 : 1;
  // Bits that stand for nothing have to be 0.
  if (wrong >= NO_DIGIT || (size == 1 && (b & 15) != 0) || (size == 2 && (c & 3) != 0))
    return 0;
  *to++ = byte(a << 2 | b >> 4);
  if (size > 1)
    *to++ = byte(b << 4 | c >> 2);
  if (size > 2)
    *to++ = byte(c << 6 | d);
  return static_cast<std::size_t>(to - first);
}

bool tokens_differ(const std::vector<std::uint8_t> &tokens,
                   const std::vector<std::uint32_t> &lengths) {
  constexpr std::size_t AHEAD = 16;
  const std::size_t count = lengths.size();
  std::vector<std::uint32_t> starts(count);
  std::vector<std::uint64_t> hashes(count);
  std::uint32_t start = 0;
  const std::uint8_t *const bytes = tokens.data();
  const std::uint8_t *const end = bytes + tokens.size();
  for (std::size_t i = 0; i < count; ++i) {
    starts[i] = start;
    const std::uint32_t size = lengths[i];
    hashes[i] = size <= ShortBytes::MOST ? ShortBytes::load(bytes + start, size, end).hash(size)
                                         : hash_long(bytes + start, size);
    start += size;
  }
  struct Seen {
    std::uint32_t hash; // its upper half
    std::uint32_t next; // one more than the index of a token; 0: free
  };
  std::size_t places = 16;
  while (places < 2 * count)
    places *= 2;
  std::vector<Seen> seen(places);
  const auto same = [&](std::size_t a, std::size_t b) {
    return hashes[a] == hashes[b] && lengths[a] == lengths[b] &&
           std::memcmp(bytes + starts[a], bytes + starts[b], lengths[a]) == 0;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (i + AHEAD < count)
      prefetch(&seen[hashes[i + AHEAD] & (places - 1)]);
    const auto upper = static_cast<std::uint32_t>(hashes[i] >> 32);
    std::size_t at = hashes[i] & (places - 1);
    for (; seen[at].next != 0; at = (at + 1) & (places - 1))
      if (seen[at].hash == upper && same(seen[at].next - 1, i))
        return false;
    seen[at] = {upper, static_cast<std::uint32_t>(i + 1)};
  }
  return true;
}

bool read_rank_file(const std::uint8_t *data, std::size_t size, RankFile &file) {
  return size < 0xFFFFFFFF && read_lines(data, data + size, file) && ids_differ(file) &&
         has_all_bytes(file) && tokens_differ(file.bytes, file.lengths);
}

} // namespace pretok
