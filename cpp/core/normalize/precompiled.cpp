#include "core/normalize/precompiled.hpp"

#include "core/normalize/character_tables.hpp"
#include "core/unicode/utf8.hpp"

#include <memory>
#include <utility>

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

void Precompiled::run(const std::uint8_t *data, std::size_t size, PassResult &result) const {
  if (result.origins != nullptr)
    append_origins_of(data, size, *result.origins);
  std::vector<std::uint8_t> &to = result.bytes;
  to.reserve(to.size() + size);
  const auto append = [&](std::size_t start, std::size_t end, const Charsmap::Rule &rule) {
    if (rule.size == 0)
      to.insert(to.end(), data + start, data + end);
    else
      to.insert(to.end(), rule.replacement, rule.replacement + rule.replacement_size);
  };
  for (std::size_t at = 0; at < size;) {
    // An ASCII character before another ASCII character is a cluster, except CR before LF.
    std::uint8_t bytes[64];
    std::size_t run = 0;
    while (run < sizeof bytes && at + run < size && ascii_[data[at + run]] != NO_BYTE) {
      bytes[run] = ascii_[data[at + run]];
      ++run;
    }
    if (run > 0 && at + run < size && data[at + run] >= 0x80)
      --run;
    to.insert(to.end(), bytes, bytes + run);
    at = run > 0 ? at + run : visit_cluster(data, size, at, append);
  }
}

void Precompiled::append_origins_of(const std::uint8_t *data, std::size_t size,
                                    Origins &origins) const {
  std::vector<std::size_t> starts;
  std::vector<Change> changes;
  const auto add = [&](std::size_t start, std::size_t end, const Charsmap::Rule &rule) {
    std::size_t old = 0; // the number of characters that are replaced
    for (std::size_t at = start; at < end; ++old) {
      const Decoded decoded = decode_utf8(data + at, end - at);
      starts.push_back(at);
      at += decoded.width;
      if (rule.size == 0)
        changes.push_back({decoded.code_point, 0});
    }
    if (rule.size == 0)
      return;
    std::size_t count = 0;
    for (std::size_t at = 0; at < rule.replacement_size; ++count) {
      const Decoded decoded = decode_utf8(rule.replacement + at, rule.replacement_size - at);
      changes.push_back({decoded.code_point, count >= old ? 1 : 0});
      at += decoded.width;
    }
    // If `changes` is empty, nothing records the dropped characters, and all later origins
    // are too low, as in Hugging Face's tokenizers.
    if (old > count && !changes.empty())
      changes.back().change -= static_cast<std::ptrdiff_t>(old - count);
  };
  for (std::size_t at = 0; at < size;)
    at = visit_cluster(data, size, at, add);
  append_origins(changes, starts, origins);
}

std::size_t Precompiled::visit_cluster(const std::uint8_t *data, std::size_t size,
                                       std::size_t at, const Visit &visit) const {
  Cluster cluster;
  std::size_t first_end = at; // the end of the first character
  std::size_t end = at;
  while (end < size) {
    const Decoded decoded = decode_utf8(data + end, size - end);
    if (!cluster.add(kind_of(decoded.code_point)))
      break;
    end += decoded.width;
    first_end = first_end == at ? end : first_end;
  }
  if (end - at <= MAX_CLUSTER && first_end != end) {
    const Charsmap::Rule rule = charsmap_.shortest(data + at, end - at);
    if (rule.size != 0) {
      visit(at, end, rule);
      return end;
    }
  }
  for (std::size_t width; at < end; at += width) {
    width = decode_utf8(data + at, end - at).width;
    visit(at, at + width, charsmap_.shortest(data + at, width));
  }
  return end;
}

GraphemeKind Precompiled::kind_of(std::uint32_t code_point) const {
  const GraphemePage *page = kinds_.find(code_point);
  if (page == nullptr) {
    auto made = std::make_unique<GraphemePage>();
    const std::uint32_t first =
        code_point - code_point % static_cast<std::uint32_t>(CHARACTERS_PER_PAGE);
    for (std::uint32_t i = 0; i < CHARACTERS_PER_PAGE; ++i)
      (*made)[i] = grapheme_kind(first + i);
    kinds_.store(code_point, std::move(made));
    page = kinds_.find(code_point);
  }
  return (*page)[code_point % CHARACTERS_PER_PAGE];
}

} // namespace pretok
