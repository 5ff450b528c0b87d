#include "core/normalize/normalizer_pass.hpp"

#include "core/unicode/utf8.hpp"

#include <utility>

namespace pretok {
namespace {

std::size_t character_size(std::uint32_t code_point) {
  std::uint8_t bytes[4];
  return code_point - 0xDC00 < 0x100 ? 1 : encode_utf8(code_point, bytes);
}

} // namespace

void PassResult::append(const std::uint8_t *text, std::size_t size, std::size_t origin) {
  bytes.insert(bytes.end(), text, text + size);
  if (origins != nullptr)
    origins->insert(origins->end(), size, static_cast<std::int64_t>(origin));
}

void PassResult::keep(const std::uint8_t *data, std::size_t start, std::size_t end) {
  bytes.insert(bytes.end(), data + start, data + end);
  for (std::size_t at = start; origins != nullptr && at < end; ++at)
    origins->push_back(static_cast<std::int64_t>(at));
}

std::vector<std::uint8_t> replace_invalid(std::vector<std::uint8_t> &text) {
  std::vector<std::uint8_t> invalid;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t width = decode_utf8(text.data() + at, text.size() - at).width;
    if (width == 1 && text[at] >= 0x80)
      invalid.push_back(std::exchange(text[at], INVALID_BYTE));
    at += width;
  }
  return invalid;
}

void append_origins(const std::vector<Change> &changes, const std::vector<std::size_t> &starts,
                    Origins &origins) {
  std::size_t at = 0;
  for (const Change &each : changes) {
    std::int64_t origin = NO_ORIGIN;
    if (each.change <= 0)
      origin = static_cast<std::int64_t>(starts[at]);
    else if (at != 0)
      origin = static_cast<std::int64_t>(starts[at - 1]);
    origins.insert(origins.end(), character_size(each.code_point), origin);
    at += each.change > 0 ? 0 : static_cast<std::size_t>(1 - each.change);
  }
}

} // namespace pretok
