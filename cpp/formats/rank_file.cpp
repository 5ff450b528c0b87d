#include "formats/rank_file.hpp"

#include "core/base/ids.hpp"
#include "core/base/open_table.hpp"
#include "core/base/short_key.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pretok {
namespace {

constexpr std::size_t MAX_DIGITS = 9; // a number of 9 digits fits in 32 bits
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
// The value of each base64 digit, and NO_DIGIT for any other byte.
constexpr std::array<std::uint8_t, 256> VALUES = make_values();

// Reads the lines from `at` to `end`. Returns false at the first line that is not in the exact
// format of tiktoken.
bool read_lines(const std::uint8_t *at, const std::uint8_t *end, RankFile &file) {
  const auto size = static_cast<std::size_t>(end - at);
  file.bytes.reserve(size / 4 * 3);
  file.lengths.reserve(size / 16);
  file.ids.reserve(size / 16);
  // Decode into a block, and append the block to file.bytes. To decode into file.bytes, it
  // would have to be resized first, and this would set all its new bytes to 0.
  std::vector<std::uint8_t> block(std::size_t{1} << 14);
  std::size_t used = 0;
  const auto flush = [&] {
    file.bytes.insert(file.bytes.end(), block.data(), block.data() + used);
    used = 0;
  };
  while (at != end) {
    const void *found = std::memchr(at, ' ', static_cast<std::size_t>(end - at));
    if (found == nullptr)
      return false;
    const auto *space = static_cast<const std::uint8_t *>(found);
    const auto text_size = static_cast<std::size_t>(space - at);
    if (text_size > block.size() - used) {
      flush();
      if (text_size > block.size())
        block.resize(text_size);
    }
    const std::size_t decoded = decode_base64(at, space, block.data() + used);
    if (decoded == 0)
      return false;
    used += decoded;
    std::uint32_t id = 0;
    const std::uint8_t *const digits = space + 1;
    for (at = digits; at != end && *at >= '0' && *at <= '9'; ++at) {
      if (static_cast<std::size_t>(at - digits) == MAX_DIGITS)
        return false;
      id = id * 10 + (*at - std::uint32_t{'0'});
    }
    if (at == digits || id >= ID_LIMIT)
      return false;
    if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
      ++at;
    if (at != end && *at++ != '\n')
      return false;
    file.lengths.push_back(static_cast<std::uint32_t>(decoded));
    file.ids.push_back(id);
  }
  flush();
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
  // read_rank_file also checks that tokens are distinct. So if 256 tokens have one byte, each
  // byte is a token.
  return std::count(file.lengths.begin(), file.lengths.end(), 1U) == 256;
}

} // namespace

std::size_t decode_base64(const std::uint8_t *at, const std::uint8_t *end, std::uint8_t *to) {
  if (at == end || (end - at) % 4 != 0)
    return 0;
  const std::uint8_t *const first = to;
  const std::uint8_t *const last = end - 4;
  unsigned all_values = 0; // the OR of all values: NO_DIGIT or more if any digit is invalid
  const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
  for (; at != last; at += 4, to += 3) {
    const unsigned a = VALUES[at[0]], b = VALUES[at[1]], c = VALUES[at[2]], d = VALUES[at[3]];
    all_values |= a | b | c | d;
    to[0] = byte(a << 2 | b >> 4);
    to[1] = byte(b << 4 | c >> 2);
    to[2] = byte(c << 6 | d);
  }
  const unsigned a = VALUES[at[0]], b = VALUES[at[1]];
  const unsigned c = at[2] == '=' && at[3] == '=' ? 0 : VALUES[at[2]];
  const unsigned d = at[3] == '=' ? 0 : VALUES[at[3]];
  all_values |= a | b | c | d;
  const std::size_t size = at[3] != '=' ? 3 : at[2] != '=' ? 2 : 1;
  // The bits of the last digit that belong to no byte must be 0.
  if (all_values >= NO_DIGIT || (size == 1 && (b & 15) != 0) || (size == 2 && (c & 3) != 0))
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
  constexpr std::uint32_t NO_TOKEN = 0xFFFFFFFF;
  constexpr std::size_t BATCH_SIZE = 64; // tokens whose slots are prefetched together
  struct Slot {                          // small, so that more slots fit in the cache
    std::uint32_t tag = 0;               // half of the hash
    std::uint32_t token = NO_TOKEN;

    bool is_free() const { return token == NO_TOKEN; }
  };
  const HashKey key = hash_key();
  OpenTable<Slot, 80> seen(lengths.size());
  std::vector<std::uint32_t> starts(lengths.size());
  std::array<std::uint64_t, BATCH_SIZE> hashes;
  const std::uint8_t *const data = tokens.data();
  const std::uint8_t *const end = data + tokens.size();
  std::uint32_t start = 0;
  for (std::size_t first = 0; first < lengths.size(); first += BATCH_SIZE) {
    const std::size_t stop = std::min(lengths.size(), first + BATCH_SIZE);
    for (std::size_t i = first; i < stop; ++i) {
      starts[i] = start;
      hashes[i - first] = hash_bytes(data + start, lengths[i], end, key);
      seen.prefetch(hashes[i - first]);
      start += lengths[i];
    }
    for (std::size_t i = first; i < stop; ++i) {
      const auto tag = static_cast<std::uint32_t>(hashes[i - first]);
      Slot &slot = seen.find_or_add(hashes[i - first], [&](const Slot &other) {
        return other.tag == tag && lengths[other.token] == lengths[i] &&
               std::memcmp(data + starts[other.token], data + starts[i], lengths[i]) == 0;
      });
      if (!slot.is_free())
        return false;
      slot = {tag, static_cast<std::uint32_t>(i)};
    }
  }
  return true;
}

bool read_rank_file(const std::uint8_t *data, std::size_t size, RankFile &file) {
  return size < 0xFFFFFFFF && read_lines(data, data + size, file) && ids_differ(file) &&
         has_all_bytes(file) && tokens_differ(file.bytes, file.lengths);
}

} // namespace pretok
