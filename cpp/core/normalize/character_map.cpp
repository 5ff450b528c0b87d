#include "core/normalize/character_map.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <utility>

namespace pretok {

std::size_t CharacterMap::map(const std::uint8_t *data, std::size_t size, std::size_t at,
                              std::vector<std::uint8_t> &to) const {
  return run<false>(data, size, at, to, nullptr);
}

std::size_t CharacterMap::map(const std::uint8_t *data, std::size_t size, std::size_t at,
                              std::vector<std::uint8_t> &to, Origins &origins) const {
  return run<true>(data, size, at, to, &origins);
}

template <bool ALIGNS>
std::size_t CharacterMap::run(const std::uint8_t *data, std::size_t size, std::size_t at,
                              std::vector<std::uint8_t> &to, Origins *origins) const {
  // to[0..end) is the result so far. `to` keeps room for one byte for each byte of the text
  // that is left.
  std::size_t end = to.size();
  to.resize(end + (size - at));
  while (at < size) {
    std::uint8_t *out = to.data() + end;
    std::size_t run = 0;
    while (at + run < size && ascii_[data[at + run]] != NO_BYTE) {
      out[run] = ascii_[data[at + run]];
      ++run;
    }
    at += run;
    end += run;
    if (ALIGNS)
      for (std::size_t i = 0; i < run; ++i)
        origins->indices.push_back(origins->next++);
    if (at == size)
      break;
    const Decoded decoded = decode_utf8(data + at, size - at);
    if (decoded.code_point - 0xDC00 < 0x100)
      break;
    const CharacterPage *page = pages_.find(decoded.code_point);
    if (page == nullptr)
      break;
    const std::size_t index = decoded.code_point % CHARACTERS_PER_PAGE;
    const std::uint8_t *text = page->text.data() + page->starts[index];
    const std::size_t length = page->starts[index + 1] - page->starts[index];
    at += decoded.width;
    if (to.size() - end < length + (size - at))
      to.resize(std::max(end + length + (size - at), to.size() + to.size() / 2));
    std::copy_n(text, length, to.data() + end);
    end += length;
    if (ALIGNS) {
      for (std::size_t i = 0; i < length; ++i)
        if (!is_tail(text[i]))
          origins->indices.push_back(origins->next);
      ++origins->next;
    }
  }
  to.resize(end);
  return at;
}

void CharacterMap::store(std::uint32_t code_point, CharacterPage page) {
  if (code_point < 0x80)
    for (std::size_t i = 0; i < 0x80; ++i)
      if (page.starts[i + 1] - page.starts[i] == 1 && page.text[page.starts[i]] < 0x80)
        ascii_[i] = page.text[page.starts[i]];
  pages_.store(code_point, std::make_unique<const CharacterPage>(std::move(page)));
}

} // namespace pretok
