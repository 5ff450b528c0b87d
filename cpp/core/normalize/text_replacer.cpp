#include "core/normalize/text_replacer.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <string_view>

namespace pretok {

TextReplacer::TextReplacer(const Replacement &replacement)
    : pattern_(replacement.pattern), content_(replacement.content) {
  if (replacement.regex)
    regex_.emplace(replacement.regex->stages, replacement.regex->table);
}

void TextReplacer::for_matches(const std::uint8_t *data, std::size_t size,
                               const OnMatch &on_match) const {
  if (regex_) {
    const auto on_piece = [&](std::size_t start, std::size_t end, int rule) {
      if (rule != GAP)
        on_match(start, end);
    };
    return regex_->steps(Utf8(data, size, regex_->classes()), on_piece);
  }
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  for (std::size_t at = 0; (at = text.find(pattern_, at)) != std::string_view::npos;) {
    on_match(at, at + pattern_.size());
    at += pattern_.size();
  }
}

void TextReplacer::run(const std::uint8_t *data, std::size_t size, PassResult &result) const {
  const auto *const content = reinterpret_cast<const std::uint8_t *>(content_.data());
  std::size_t done = 0; // the offset after the last match
  // The values of `result.invalid` for the INVALID_BYTEs outside of matches.
  std::vector<std::uint8_t> kept_invalid;
  std::ptrdiff_t invalid = 0; // the number of INVALID_BYTEs before `done`
  const auto keep_to = [&](std::size_t start) {
    result.keep(data, done, start);
    if (result.invalid == nullptr)
      return;
    const auto value = result.invalid->begin() + invalid;
    const std::ptrdiff_t count = std::count(data + done, data + start, INVALID_BYTE);
    kept_invalid.insert(kept_invalid.end(), value, value + count);
    invalid += count;
  };
  for_matches(data, size, [&](std::size_t start, std::size_t end) {
    keep_to(start);
    result.append(content, content_.size(), last_start(data, start, end));
    if (result.invalid != nullptr)
      invalid += std::count(data + start, data + end, INVALID_BYTE);
    done = end;
  });
  keep_to(size);
  if (result.invalid != nullptr)
    result.invalid->swap(kept_invalid);
}

} // namespace pretok
