#include "core/encode/text_spaces.hpp"

#include "core/unicode/utf8_check.hpp"

#include <algorithm>
#include <cstring>

namespace pretok {

bool TextSpaces::has_mark(const std::uint8_t *bytes, std::size_t size) {
  const std::uint8_t *const end = bytes + size;
  while (bytes != end) {
    bytes = static_cast<const std::uint8_t *>(
        std::memchr(bytes, 0xE2, static_cast<std::size_t>(end - bytes)));
    if (bytes == nullptr)
      return false;
    if (is_mark(bytes, static_cast<std::size_t>(end - bytes)))
      return true;
    ++bytes;
  }
  return false;
}

bool TextSpaces::has_changes(const std::uint8_t *part, std::size_t size) const {
  return has_mark(part, size) || (replaces_invalid && !is_utf8(part, size));
}

void TextSpaces::append(const std::uint8_t *part, std::size_t size,
                        std::vector<std::uint8_t> &to) const {
  if (!changes(part, size)) {
    to.insert(to.end(), part, part + size);
    return;
  }
  for (std::size_t at = 0; at < size;) {
    const Decoded decoded = decode_utf8(part + at, size - at);
    if (decoded.code_point == MARK)
      to.push_back(' ');
    else if (replaces_invalid && is_invalid(decoded, part + at))
      to.insert(to.end(), {0xEF, 0xBF, 0xBD});
    else
      to.insert(to.end(), part + at, part + at + decoded.width);
    at += decoded.width;
  }
}

void TextSpacesSource::find(std::size_t from, std::size_t to, std::size_t &start,
                            std::size_t &end) {
  const std::size_t first = std::max(from, prefix_) - prefix_;
  const std::size_t last = std::max(to, prefix_) - prefix_;
  if (!spaces_.are_marks) {
    start = first;
    end = last;
    return;
  }
  skip_to(first);
  start = source_;
  skip_to(last);
  // If the token ends within a character, its span includes the whole character. So may the
  // span of a token that is the prefix alone: `last` is then 0.
  const bool is_inside = changed_ != last || (last == 0 && spaces_.prefix_has_span);
  end = is_inside ? source_ + width() : source_;
}

std::size_t TextSpacesSource::character_at(std::size_t at) const {
  for (std::size_t back = 1; back <= std::min<std::size_t>(at, 3); ++back)
    if (!is_tail(part_[at - back])) {
      const Decoded decoded = decode_utf8(part_ + at - back, size_ - (at - back));
      return decoded.width > back ? at - back : at;
    }
  return at;
}

void TextSpacesSource::widen_end(std::size_t &end) const {
  const std::size_t start = end < size_ ? character_at(end) : end;
  if (start < end || end == 0)
    end = start + (start < size_ ? decode_utf8(part_ + start, size_ - start).width : 0);
}

// Goes on to the character that contains byte `offset` of the changed part, not counting the
// prefix. If there is no such character, goes to the end.
void TextSpacesSource::skip_to(std::size_t offset) {
  while (source_ < size_) {
    const Decoded decoded = decode_utf8(part_ + source_, size_ - source_);
    const std::size_t size = spaces_.size_of(part_ + source_, decoded);
    if (changed_ + size > offset)
      return;
    source_ += decoded.width;
    changed_ += size;
  }
}

// Returns the width of the current character in bytes, or 0 at the end of the part.
std::size_t TextSpacesSource::width() const {
  return source_ < size_ ? decode_utf8(part_ + source_, size_ - source_).width : 0;
}

} // namespace pretok
