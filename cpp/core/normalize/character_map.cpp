#include "core/normalize/character_map.hpp"

#include "core/base/count_steps.hpp"
#include "core/normalize/character_tables.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace pretok {

CharacterMap::CharacterMap(std::vector<Spelling> spellings) : spellings_(std::move(spellings)) {
  ascii_.fill(NO_BYTE);
}

void CharacterMap::keep_pages() {
  keeps_pages_ = true;
  const CharacterPage &ascii = page(0);
  for (std::size_t byte = 0; byte < 0x80; ++byte)
    if (ascii.starts[byte + 1] - ascii.starts[byte] == 1 &&
        ascii.text[ascii.starts[byte]] < 0x80)
      ascii_[byte] = ascii.text[ascii.starts[byte]];
}

void CharacterMap::spell(std::uint32_t code_point, std::vector<std::uint8_t> &to) const {
  std::vector<std::uint8_t> spelled;
  std::vector<std::uint8_t> before;
  append_character(code_point, spelled);
  for (const Spelling spelling : spellings_) {
    before.swap(spelled);
    spelled.clear();
    count_steps(before.size());
    for (std::size_t at = 0; at < before.size();) {
      const Decoded decoded = decode_utf8(before.data() + at, before.size() - at);
      spelling(decoded.code_point, spelled);
      at += decoded.width;
    }
  }
  to.insert(to.end(), spelled.begin(), spelled.end());
}

const CharacterPage &CharacterMap::page(std::uint32_t code_point) const {
  if (const CharacterPage *stored = pages_.find(code_point))
    return *stored;
  const std::uint32_t first =
      code_point - code_point % static_cast<std::uint32_t>(CHARACTERS_PER_PAGE);
  auto made = std::make_unique<CharacterPage>();
  for (std::uint32_t i = 0; i < CHARACTERS_PER_PAGE; ++i) {
    made->starts[i] = static_cast<std::uint32_t>(made->text.size());
    if ((first + i) >> 11 != 0xD800 >> 11) // no UTF-8 has surrogates
      spell(first + i, made->text);
  }
  made->starts[CHARACTERS_PER_PAGE] = static_cast<std::uint32_t>(made->text.size());
  pages_.store(code_point, std::move(made));
  return *pages_.find(code_point);
}

void CharacterMap::run(const std::uint8_t *data, std::size_t size, PassResult &result) const {
  // to[0..end) is the result so far. `to` keeps room for one byte for each byte of the text
  // that is left.
  std::vector<std::uint8_t> &to = result.bytes;
  std::size_t end = 0;
  const auto make_room = [&](std::size_t needed) {
    if (to.size() - end >= needed)
      return;
    to.resize(std::max(end + needed, to.size() + to.size() / 2));
    if (result.origins != nullptr)
      result.origins->resize(to.size());
  };
  make_room(size);
  std::vector<std::uint8_t> spelled;
  for (std::size_t at = 0; at < size;) {
    std::uint8_t *out = to.data() + end;
    std::size_t run = 0;
    for (; at + run < size && ascii_[data[at + run]] != NO_BYTE; ++run)
      out[run] = ascii_[data[at + run]];
    if (result.origins != nullptr)
      std::iota(result.origins->data() + end, result.origins->data() + end + run, at);
    at += run;
    end += run;
    if (at == size)
      break;
    const Decoded decoded = decode_utf8(data + at, size - at);
    const std::uint8_t *text = data + at;
    std::size_t length = 1;
    if (decoded.width == 1 && data[at] >= 0x80) {
      // A byte that is not UTF-8 is kept.
    } else if (keeps_pages_) {
      const CharacterPage &stored = page(decoded.code_point);
      const std::size_t index = decoded.code_point % CHARACTERS_PER_PAGE;
      text = stored.text.data() + stored.starts[index];
      length = stored.starts[index + 1] - stored.starts[index];
    } else {
      spelled.clear();
      spell(decoded.code_point, spelled);
      text = spelled.data();
      length = spelled.size();
    }
    make_room(length + (size - at - decoded.width));
    std::copy_n(text, length, to.data() + end);
    if (result.origins != nullptr)
      std::fill_n(result.origins->data() + end, length, static_cast<std::int64_t>(at));
    at += decoded.width;
    end += length;
  }
  to.resize(end);
  if (result.origins != nullptr)
    result.origins->resize(end);
}

} // namespace pretok
