// The bytes of a file, to be read only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

// A GGUF file, which may have gigabytes of weights behind its tokenizer, is mapped where the
// system can, so that only what is read of it is loaded: nobody may make it shorter meanwhile.
// Any other is read into memory, and at most LARGEST of it.
class MappedFile {
public:
  static constexpr std::size_t LARGEST = std::size_t{1} << 30;

  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  // Opens the file at a path in UTF-8, once. Returns "", or what is wrong, from the system.
  std::string open(const char *path);

  const std::uint8_t *data() const { return data_; }
  std::size_t size() const { return size_; }

private:
  const std::uint8_t *data_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::uint8_t> read_;
  void *mapped_ = nullptr;
};

} // namespace pretok
