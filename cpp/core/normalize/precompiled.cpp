#include "core/normalize/precompiled.hpp"

#include "core/unicode/utf8.hpp"

#include <memory>

namespace pretok {
namespace {

using Kind = GraphemeKind;

bool is_control(Kind kind) {
  return kind == Kind::CONTROL || kind == Kind::CR || kind == Kind::LF;
}

// Returns whether the kinds of two adjacent characters suffice to put them in one cluster.
bool joins(Kind left, Kind right) {
  if (is_control(left) || is_control(right))
    return left == Kind::CR && right == Kind::LF;
  switch (right) {
  case Kind::EXTEND:
  case Kind::ZWNJ:
  case Kind::ZWJ:
  case Kind::LINKER:
  case Kind::SPACING_MARK:
    return true;
  case Kind::L:
  case Kind::LV:
  case Kind::LVT:
    return left == Kind::PREPEND || left == Kind::L;
  case Kind::V:
    return left == Kind::PREPEND || left == Kind::L || left == Kind::LV || left == Kind::V;
  case Kind::T:
    return left == Kind::PREPEND || left == Kind::LV || left == Kind::V || left == Kind::LVT ||
           left == Kind::T;
  default:
    return left == Kind::PREPEND;
  }
}

// Finds the ends of clusters. A cluster begins at the first character.
class Cluster {
public:
  // Returns whether `right`, the next character, is in the cluster, and adds it.
  bool add(Kind right) {
    if (!is_first_ && !joins(left_, right) &&
        !(right == Kind::CONSONANT && base_ == Kind::CONSONANT && has_linker_) &&
        !(right == Kind::PICTOGRAPHIC && base_ == Kind::PICTOGRAPHIC && left_ == Kind::ZWJ))
      return false;
    if (right == Kind::CONSONANT || right == Kind::PICTOGRAPHIC) {
      base_ = right;
      has_linker_ = false;
    } else if (base_ == Kind::CONSONANT) {
      has_linker_ = has_linker_ || right == Kind::LINKER;
      if (right != Kind::EXTEND && right != Kind::ZWJ && right != Kind::LINKER)
        base_ = Kind::OTHER;
    } else if ((right != Kind::EXTEND && right != Kind::ZWNJ && right != Kind::ZWJ &&
                right != Kind::LINKER) ||
               left_ == Kind::ZWJ) {
      base_ = Kind::OTHER;
    }
    left_ = right;
    is_first_ = false;
    return true;
  }

private:
  bool is_first_ = true;
  Kind left_ = Kind::CONTROL;
  // The kind of the last consonant or pictograph if only marks follow it, else OTHER.
  Kind base_ = Kind::OTHER;
  bool has_linker_ = false; // one of these marks is a linker
};

} // namespace

Precompiled::Precompiled(Charsmap charsmap) : charsmap_(std::move(charsmap)) {
  ascii_.fill(NO_BYTE);
  for (std::uint8_t byte = 0; byte < 0x80; ++byte) {
    const Charsmap::Rule rule = charsmap_.shortest(&byte, 1);
    if (byte == '\r')
      continue;
    if (rule.size == 0)
      ascii_[byte] = byte;
    else if (rule.replacement_size == 1 && rule.replacement[0] < 0x80)
      ascii_[byte] = rule.replacement[0];
  }
}

void Precompiled::store(std::uint32_t code_point, const GraphemePage &kinds) {
  kinds_.store(code_point, std::make_unique<const GraphemePage>(kinds));
}

std::size_t Precompiled::normalize(const std::uint8_t *data, std::size_t size, std::size_t at,
                                   std::vector<std::uint8_t> &to, std::size_t &stopped) const {
  to.reserve(to.size() + (size - at));
  while (at < size) {
    // An ASCII character before another ASCII character is a cluster, except CR before LF.
    std::uint8_t bytes[64];
    std::size_t run = 0;
    while (run < sizeof bytes && at + run < size && ascii_[data[at + run]] != NO_BYTE) {
      bytes[run] = ascii_[data[at + run]];
      ++run;
    }
    if (run > 0 && at + run < size && data[at + run] >= 0x80)
      --run;
    if (run > 0) {
      to.insert(to.end(), bytes, bytes + run);
      at += run;
      continue;
    }
    std::size_t first_size = 0;
    const std::size_t end = cluster_end(data, size, at, first_size, stopped);
    if (end == at)
      return at;
    if (end - at > MAX_CLUSTER || !replace(data + at, end - at, to)) {
      if (end - at == first_size) { // one character
        to.insert(to.end(), data + at, data + end);
      } else {
        for (std::size_t width; at < end; at += width) {
          width = decode_utf8(data + at, end - at).width;
          if (!replace(data + at, width, to))
            to.insert(to.end(), data + at, data + at + width);
        }
      }
    }
    at = end;
  }
  return at;
}

std::size_t Precompiled::cluster_end(const std::uint8_t *data, std::size_t size, std::size_t at,
                                     std::size_t &first_size, std::size_t &stopped) const {
  Cluster cluster;
  std::size_t end = at;
  while (end < size) {
    const Decoded decoded = decode_utf8(data + end, size - end);
    const bool is_invalid = decoded.code_point - 0xDC00 < 0x100;
    const GraphemePage *page = is_invalid ? nullptr : kinds_.find(decoded.code_point);
    if (page == nullptr) {
      stopped = end;
      return at;
    }
    if (!cluster.add((*page)[decoded.code_point % PAGE_SIZE]))
      break;
    if (end == at)
      first_size = decoded.width;
    end += decoded.width;
  }
  return end;
}

bool Precompiled::replace(const std::uint8_t *part, std::size_t size,
                          std::vector<std::uint8_t> &to) const {
  const Charsmap::Rule rule = charsmap_.shortest(part, size);
  if (rule.size == 0)
    return false;
  to.insert(to.end(), rule.replacement, rule.replacement + rule.replacement_size);
  return true;
}

} // namespace pretok
