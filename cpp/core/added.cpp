#include "added.hpp"

#include "utf8.hpp"

#include <algorithm>

namespace pretok {
namespace {

constexpr std::uint32_t NOTHING = 0xFFFFFFFF;

// The code point that ends at `at`; NOTHING at `start`, or where there is no UTF-8.
std::uint32_t before(const std::uint8_t *data, std::size_t start, std::size_t at) {
  for (std::size_t size = 1; size <= 4 && size <= at - start; ++size) {
    if ((data[at - size] & 0xC0) == 0x80)
      continue;
    const Decoded decoded = decode_utf8(data + at - size, size);
    const bool whole = decoded.width == size && (size > 1 || data[at - 1] < 0x80);
    return whole ? decoded.code_point : NOTHING;
  }
  return NOTHING;
}

// The code point at `at`; NOTHING at `end`, or where there is no UTF-8.
std::uint32_t behind(const std::uint8_t *data, std::size_t at, std::size_t end) {
  if (at == end)
    return NOTHING;
  const Decoded decoded = decode_utf8(data + at, end - at);
  return decoded.width > 1 || data[at] < 0x80 ? decoded.code_point : NOTHING;
}

std::size_t width(std::uint32_t code_point) {
  return 1 + std::size_t{code_point >= 0x80} + std::size_t{code_point >= 0x800} +
         std::size_t{code_point >= 0x10000};
}

// The property White_Space.
bool is_white_space(std::uint32_t code_point) {
  return (code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x20 ||
         code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
         (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 ||
         code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F ||
         code_point == 0x3000;
}

} // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken> &tokens, Ranges words)
    : words_(std::move(words)) {
  for (const AddedToken &token : tokens) {
    longest_ = std::max(longest_, token.content.size());
    strips_ = strips_ || token.lstrip || token.rstrip;
  }
  for (const bool normalized : {false, true}) {
    std::vector<AddedToken> found;
    for (const AddedToken &token : tokens)
      if (token.normalized == normalized && !token.content.empty())
        found.push_back(token);
    if (!found.empty())
      finders_.emplace_back(std::move(found));
  }
}

AddedTokens::Finder::Finder(std::vector<AddedToken> of) : tokens(std::move(of)) {
  // std::string compares bytes as unsigned.
  std::sort(tokens.begin(), tokens.end(),
            [](const AddedToken &a, const AddedToken &b) { return a.content < b.content; });
  for (const AddedToken &token : tokens)
    begins[static_cast<std::uint8_t>(token.content[0])] = true;
  if (std::count(begins.begin(), begins.end(), true) == 1)
    only = static_cast<std::uint8_t>(tokens[0].content[0]);
}

const AddedToken *AddedTokens::Finder::match(const std::uint8_t *data, std::size_t at,
                                             std::size_t end) const {
  const AddedToken *found = nullptr;
  auto low = tokens.begin();
  auto high = tokens.end();
  // Those from `low` to `high` begin with the `depth` bytes at `at`.
  for (std::size_t depth = 0;; ++depth) {
    if (low != high && low->content.size() == depth) {
      found = &*low;
      ++low;
    }
    if (low == high || at + depth == end)
      return found;
    const std::uint8_t byte = data[at + depth];
    const auto byte_of = [depth](const AddedToken &token) {
      return static_cast<std::uint8_t>(token.content[depth]);
    };
    low = std::partition_point(low, high,
                               [&](const auto &token) { return byte_of(token) < byte; });
    high = std::partition_point(low, high,
                                [&](const auto &token) { return byte_of(token) == byte; });
  }
}

std::size_t AddedTokens::clear_from(const std::uint8_t *data, std::size_t size,
                                    std::size_t from, std::size_t to) const {
  std::size_t clear = from;
  const std::size_t end = std::min(size, to + 1);
  for (const Finder &finder : finders_)
    for (std::size_t at = finder.next(data, from - std::min(from, longest_), end); at < end;
         at = finder.next(data, at + 1, end))
      if (const AddedToken *token = finder.match(data, at, size))
        clear = std::max(clear, at + token->content.size());
  if (strips_)
    clear = skip(data, clear, size);
  return clear <= to ? clear : NOWHERE;
}

bool AddedTokens::is_word_before(const std::uint8_t *data, std::size_t start,
                                 std::size_t at) const {
  return is_word(before(data, start, at));
}

bool AddedTokens::is_word_at(const std::uint8_t *data, std::size_t at, std::size_t end) const {
  return is_word(behind(data, at, end));
}

bool AddedTokens::is_word(std::uint32_t code_point) const {
  const auto next =
      std::upper_bound(words_.begin(), words_.end(), std::make_pair(code_point, NOTHING));
  return next != words_.begin() && code_point <= std::prev(next)->second;
}

std::size_t AddedTokens::skip_back(const std::uint8_t *data, std::size_t start,
                                   std::size_t at) {
  for (std::uint32_t code_point = before(data, start, at); is_white_space(code_point);
       code_point = before(data, start, at))
    at -= width(code_point);
  return at;
}

std::size_t AddedTokens::skip(const std::uint8_t *data, std::size_t at, std::size_t end) {
  for (std::uint32_t code_point = behind(data, at, end); is_white_space(code_point);
       code_point = behind(data, at, end))
    at += width(code_point);
  return at;
}

} // namespace pretok
