// One text for each id, in one piece of memory.
#pragma once

#include "core/bpe/token_view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace pretok {

class TokenTexts {
public:
  // A view of all texts.
  struct View {
    TokenView operator[](std::size_t id) const {
      return {bytes + starts[id], starts[id + 1] - starts[id]};
    }

    const std::uint32_t *starts; // text `id` is bytes[starts[id]..starts[id + 1])
    const std::uint8_t *bytes;
    std::size_t size; // the number of ids
  };

  // The number of unused bytes after the last text. With them, code may read PADDING bytes from
  // the start of any text.
  static constexpr std::size_t PADDING = 16;

  TokenTexts() = default;
  // `texts` are by id. Throws std::length_error if they have 4 GiB or more in total.
  explicit TokenTexts(const std::vector<std::string_view> &texts) {
    std::uint64_t size = 0;
    for (const std::string_view text : texts) {
      size += text.size();
      longest_ = std::max(longest_, text.size());
    }
    if (size > UINT32_MAX - PADDING)
      throw std::length_error("the tokens have 4 GiB or more in total; expected less");
    starts_.reserve(texts.size() + 1);
    bytes_.reserve(static_cast<std::size_t>(size) + PADDING);
    for (const std::string_view text : texts) {
      starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      bytes_.insert(bytes_.end(), text.begin(), text.end());
    }
    starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    bytes_.resize(bytes_.size() + PADDING);
  }

  // Returns the number of ids.
  std::size_t size() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  // Returns the size of the longest text in bytes.
  std::size_t longest() const { return longest_; }
  View view() const { return {starts_.data(), bytes_.data(), size()}; }
  // `id` must be less than size().
  TokenView operator[](std::size_t id) const { return view()[id]; }
  std::string_view text(std::size_t id) const {
    const TokenView token = (*this)[id];
    return {reinterpret_cast<const char *>(token.bytes), token.size};
  }

private:
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint8_t> bytes_;
  std::size_t longest_ = 0;
};

} // namespace pretok
