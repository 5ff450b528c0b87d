// Decodes ids by joining one text per token: the fast way, which most models allow.
#pragma once

#include "core/base/ids.hpp"
#include "core/decode/token_texts.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace pretok {

// The properties of an id, as bits of a number.
struct IdFlag {
  enum : std::uint8_t {
    TOKEN = 1,    // a token has the id
    SPECIAL = 2,  // the token is special
    SKIPPED = 4,  // `skip_special` omits the token
    FALLBACK = 8, // the token stands for one byte, such as <0x0A>
    SPACED = 16,  // for SentencePiece: the token begins with the mark U+2581
    RUN = 32,     // the text is the byte of a fallback token
  };
};

// The texts to join, and the spaces to strip from the joined text.
struct JoinRules {
  TokenTexts texts;
  std::vector<std::uint8_t> flags; // by id, those of IdFlag
  std::size_t start = 0;           // the maximum number of spaces to strip at the start
  std::size_t stop = 0;            // the same at the end
  // Strip the start only if the first text is that of a SPACED token. If this text is only the
  // space, and `strips_again`, the next token may lose its space too.
  bool only_spaced = false;
  bool strips_again = false;
  // If set, each text is bytes, which need not be UTF-8. Otherwise only the texts of RUN tokens
  // are bytes.
  bool are_bytes = false;
  // If set, a run of RUN tokens that is not UTF-8 in total becomes one U+FFFD for each byte.
  bool has_runs = false;
};

class JoinedTexts {
public:
  // `rules` must outlive the JoinedTexts.
  JoinedTexts(const JoinRules &rules, bool skip_special)
      : rules_(rules), skip_special_(skip_special) {}
  JoinedTexts(const JoinedTexts &) = delete;
  JoinedTexts &operator=(const JoinedTexts &) = delete;
  ~JoinedTexts() {
    if (bytes_ != local_.data())
      std::free(bytes_);
  }

  // Joins the texts of the ids id_at(0) to id_at(count - 1). Returns false if the texts may be
  // no more than a part of the result, or if an id has no token. Throws std::bad_alloc.
  template <typename IdAt> bool join(std::size_t count, IdAt id_at) {
    if (count * BYTES_PER_TOKEN > capacity_)
      grow(count * BYTES_PER_TOKEN, 0);
    // Copy the members to locals. The compiler would reload a member after each store of a
    // byte, since the byte may be part of the member.
    const TokenTexts::View texts = rules_.texts.view();
    const bool skips = skip_special_;
    std::uint8_t *begin = bytes_;
    std::uint8_t *to = begin;
    const std::uint8_t *end = begin + capacity_;
    std::uint64_t first = NO_ID;
    for (std::size_t i = 0; i < count; ++i) {
      const auto id = static_cast<std::uint64_t>(id_at(i));
      if (id >= texts.size)
        return false;
      const TokenView text = texts[static_cast<std::size_t>(id)];
      if (skips && has(id, IdFlag::SKIPPED))
        continue;
      if (text.size == 0) {
        // An empty text ends a run of fallback bytes (tokens such as <0x0A>). If the run ends
        // within a character, bytes after the empty text must not complete this character.
        if (!has(id, IdFlag::TOKEN) || !ends_character(begin, to))
          return false;
        continue;
      }
      if (to == begin)
        first = id;
      if (static_cast<std::size_t>(end - to) < text.size + TokenTexts::PADDING) {
        const auto size = static_cast<std::size_t>(to - begin);
        grow(size + text.size + TokenTexts::PADDING, size);
        begin = bytes_;
        to = begin + size;
        end = begin + capacity_;
      }
      // First copy PADDING bytes, even of a shorter text: a copy of constant size is fast, and
      // nearly all texts have no more bytes.
      std::memcpy(to, text.bytes, TokenTexts::PADDING);
      if (text.size > TokenTexts::PADDING)
        std::memcpy(to + TokenTexts::PADDING, text.bytes + TokenTexts::PADDING,
                    text.size - TokenTexts::PADDING);
      to += text.size;
    }
    return strip(begin, to, first);
  }

  // The joined text. It is UTF-8 if each run of fallback bytes is.
  const std::uint8_t *data() const { return data_; }
  std::size_t size() const { return size_; }

private:
  // The room to reserve for each token: a little more than the average size.
  static constexpr std::size_t BYTES_PER_TOKEN = 5;

  bool has(std::uint64_t id, std::uint8_t flag) const {
    return (rules_.flags[static_cast<std::size_t>(id)] & flag) != 0;
  }

  // Sets data() and size() to [first, last) without the spaces to strip. `id` is that of the
  // first text.
  bool strip(const std::uint8_t *first, const std::uint8_t *last, std::uint64_t id) {
    std::size_t start = rules_.start;
    if (rules_.only_spaced && first != last && *first == ' ' && start != 0) {
      if (!has(id, IdFlag::SPACED))
        start = 0;
      else if (rules_.strips_again && rules_.texts[static_cast<std::size_t>(id)].size == 1)
        return false;
    }
    for (; start != 0 && first != last && *first == ' '; --start)
      ++first;
    for (std::size_t i = 0; i < rules_.stop && first != last && last[-1] == ' '; ++i)
      --last;
    data_ = first;
    size_ = static_cast<std::size_t>(last - first);
    return true;
  }

  // Returns whether there are no bytes, or the bytes end with an ASCII byte, or with a lead
  // byte and exactly as many continuation bytes as it needs.
  static bool ends_character(const std::uint8_t *begin, const std::uint8_t *end) {
    if (begin == end)
      return true;
    std::size_t tails = 0;
    for (; end != begin && tails < 4; ++tails)
      if (!is_tail(*--end))
        break;
    const std::uint8_t lead = tails == 4 || (end == begin && is_tail(*begin)) ? 0xFF : *end;
    const std::size_t expected = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    return tails == expected && lead < 0xF8;
  }

  // Allocates room for `min_capacity` bytes or more in total, and keeps `size` bytes.
  void grow(std::size_t min_capacity, std::size_t size) {
    const std::size_t capacity = std::max(min_capacity, capacity_ + capacity_ / 2);
    const bool is_local = bytes_ == local_.data();
    void *larger = std::realloc(is_local ? nullptr : bytes_, capacity);
    if (larger == nullptr)
      throw std::bad_alloc();
    if (is_local)
      std::memcpy(larger, bytes_, size);
    bytes_ = static_cast<std::uint8_t *>(larger);
    capacity_ = capacity;
  }

  const JoinRules &rules_;
  const bool skip_special_;
  std::array<std::uint8_t, 1024> local_; // not initialized
  std::uint8_t *bytes_ = local_.data();
  std::size_t capacity_ = local_.size();
  const std::uint8_t *data_ = bytes_;
  std::size_t size_ = 0;
};

} // namespace pretok
