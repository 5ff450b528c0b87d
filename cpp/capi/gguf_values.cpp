// Loads a tokenizer from GGUF values in memory. The values are written as a GGUF file without
// tensors, which the reader of files then checks and reads.
#include "capi/status.hpp"
#include "formats/gguf_metadata.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace pretok {
namespace {

constexpr std::uint32_t GGUF_VERSION = 3;

// Writes numbers in the byte order of the machine, which the reader detects.
class GgufWriter {
public:
  explicit GgufWriter(std::size_t value_count) {
    add("GGUF", 4);
    number(GGUF_VERSION);
    number(std::uint64_t{0}); // tensors
    number(static_cast<std::uint64_t>(value_count));
  }

  void write(const pretok_gguf_value &value) {
    text(value.key, std::strlen(value.key));
    if (value.is_array)
      number(std::uint32_t{Gguf::ARRAY});
    number(static_cast<std::uint32_t>(value.type));
    if (value.is_array)
      number(static_cast<std::uint64_t>(value.count));
    if (value.type != PRETOK_GGUF_STRING)
      return add(value.data, value.count * Gguf::WIDTHS[value.type]);
    const auto *texts = static_cast<const char *const *>(value.data);
    for (std::size_t i = 0; i < value.count; ++i)
      text(texts[i], value.sizes != nullptr ? value.sizes[i] : std::strlen(texts[i]));
  }

  const std::vector<std::uint8_t> &bytes() const { return bytes_; }

private:
  void add(const void *data, std::size_t size) {
    if (size == 0)
      return;
    const auto *first = static_cast<const std::uint8_t *>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  template <typename Number> void number(Number value) { add(&value, sizeof value); }
  void text(const char *data, std::size_t size) {
    number(static_cast<std::uint64_t>(size));
    add(data, size);
  }

  std::vector<std::uint8_t> bytes_;
};

// Fails if a value cannot be written.
pretok_status check_value(const pretok_gguf_value &value, std::size_t index,
                          pretok_error *error) {
  const auto invalid = [&](const char *problem) {
    return fail(error, PRETOK_INVALID_ARGUMENT, "values[%zu]%s", index, problem);
  };
  if (value.key == nullptr)
    return invalid(".key is NULL; expected a text");
  int type; // a caller may have stored any number
  static_assert(sizeof type == sizeof value.type, "an enumeration has the size of int");
  std::memcpy(&type, &value.type, sizeof type);
  if (type < 0 || type >= static_cast<int>(Gguf::COUNT) ||
      type == static_cast<int>(Gguf::ARRAY))
    return invalid(".type is not a pretok_gguf_type; for an array, set is_array, and give the "
                   "type of its elements");
  if (!value.is_array && value.count != 1)
    return invalid(".count is not 1, but is_array is false");
  if (value.data == nullptr && value.count != 0)
    return invalid(".data is NULL; expected a pointer");
  if (value.type == PRETOK_GGUF_STRING)
    for (std::size_t i = 0; i < value.count; ++i)
      if (static_cast<const char *const *>(value.data)[i] == nullptr)
        return invalid(".data has a text that is NULL");
  return PRETOK_OK;
}

} // namespace
} // namespace pretok

using namespace pretok;

pretok_status pretok_tokenizer_from_gguf_values(const pretok_gguf_value *values, size_t count,
                                                const pretok_load_options *options,
                                                pretok_tokenizer **result,
                                                pretok_error *error) noexcept {
  return guarded(error, {{values, "values", count != 0}, {result, "result"}}, [&] {
    std::vector<const pretok_gguf_value *> used;
    for (std::size_t i = 0; i < count; ++i) {
      if (const pretok_status status = check_value(values[i], i, error))
        return status;
      constexpr char PREFIX[] = "tokenizer.";
      // Of some models, only general.name tells how to treat added tokens.
      if (std::strncmp(values[i].key, PREFIX, sizeof PREFIX - 1) == 0 ||
          std::strcmp(values[i].key, "general.name") == 0)
        used.push_back(&values[i]);
    }
    GgufWriter writer(used.size());
    for (const pretok_gguf_value *value : used)
      writer.write(*value);
    return pretok_tokenizer_from_memory(writer.bytes().data(), writer.bytes().size(), options,
                                        result, error);
  });
}
