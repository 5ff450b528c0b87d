// Builds the values for pretok_tokenizer_from_gguf_values, and the GGUF file with these values.
#pragma once

#include "capi/pretok.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace pretok {

// Owns the memory of the values. Each array has exactly the size of its elements, so a
// sanitizer catches reads after the end.
class GgufArrays {
public:
  template <typename Number>
  pretok_gguf_value &numbers(const std::string &key, pretok_gguf_type type, bool is_array,
                             const std::vector<Number> &numbers) {
    const std::size_t size = numbers.size() * sizeof(Number);
    return add(key, type, is_array, numbers.size(), copy(numbers.data(), size));
  }
  template <typename Number>
  pretok_gguf_value &number(const std::string &key, pretok_gguf_type type, Number number) {
    return numbers(key, type, false, std::vector<Number>{number});
  }

  // Adds strings. If `has_sizes`, they have no final NUL.
  pretok_gguf_value &strings(const std::string &key, bool is_array,
                             const std::vector<std::string> &texts, bool has_sizes) {
    std::vector<const char *> pointers;
    std::vector<std::size_t> sizes;
    for (const std::string &text : texts) {
      pointers.push_back(
          static_cast<const char *>(copy(text.c_str(), text.size() + !has_sizes)));
      sizes.push_back(text.size());
    }
    pretok_gguf_value &value =
        add(key, PRETOK_GGUF_STRING, is_array, texts.size(),
            copy(pointers.data(), pointers.size() * sizeof(const char *)));
    if (has_sizes)
      value.sizes = static_cast<const std::size_t *>(
          copy(sizes.data(), sizes.size() * sizeof(std::size_t)));
    return value;
  }
  pretok_gguf_value &string(const std::string &key, const std::string &text, bool has_size) {
    return strings(key, false, {text}, has_size);
  }

  const std::vector<pretok_gguf_value> &values() const { return values_; }

private:
  pretok_gguf_value &add(const std::string &key, pretok_gguf_type type, bool is_array,
                         std::size_t count, const void *data) {
    const auto *text = static_cast<const char *>(copy(key.c_str(), key.size() + 1));
    return values_.emplace_back(pretok_gguf_value{text, type, is_array, count, data, nullptr});
  }
  const void *copy(const void *data, std::size_t size) {
    owned_.push_back(std::make_unique<std::uint8_t[]>(size));
    if (size != 0)
      std::memcpy(owned_.back().get(), data, size);
    return owned_.back().get();
  }

  std::vector<pretok_gguf_value> values_;
  std::vector<std::unique_ptr<std::uint8_t[]>> owned_;
};

} // namespace pretok
